"""Training of a cross-encoder on questions with labelled answers, and the graphs that it is served with.

scorer = TrainedCrossEncoder.of(folder, PairConfig(max_length=128))
training = Training(scorer.model, optimiser(scorer, tuning), seed=1)
for progress in tune_cross_encoder(training, scorer, pool, tuning, held_out=dev):
    print(progress)
scorer.save(out, card="# …")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.atomic import atomic_path
from qa_core.encoders.onnx_export import export_pair_graph
from qa_core.encoders.transformer_encoder import quantised
from qa_core.networks.pair_classifier import GRAPH, QUANTISED, TRANSFORMER, PairClassifier, alike, pair_logits
from qa_core.networks.pair_tokens import PairConfig, TextPair
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray
from rankers.training.answer_pool import AnswerPool, check_mixed
from rankers.training.pair_training import mean_average_precision


@dataclass(frozen=True, slots=True)
class CrossEncoderTuning:
    batch: int = 32  # pairs
    epochs: int = 3
    patience: int = 2  # epochs without a better MAP on development data
    learning_rate: float = 5e-5  # of the transformer
    head_rate: float = 1e-3  # of the layer over it, which starts from nothing
    warm_up: float = 0.1  # share of all steps
    clip: float = 1.0  # largest norm of all gradients together; 0 is off
    frozen: int = 0  # lower layers that stay as they are, and the embeddings with them
    negatives: int = 0  # wrong answers for each right one, drawn anew in each epoch; 0 takes all
    elsewhere: float = 0.0  # share of the wrong answers that are exchanged for some of other questions
    weight: float = 1.0  # of a right answer in the loss; 0 balances the two kinds


@dataclass(frozen=True, slots=True, eq=False)
class TrainedCrossEncoder:
    """A pair classifier as a pair scorer that can be trained (`rankers.trainable.Trainable`)."""

    classifier: PairClassifier

    @classmethod
    def of(cls, folder: Path, config: PairConfig) -> Self:
        """Over a transformer's folder, with a new output layer; errors as those of `PairClassifier.of`."""
        return cls(PairClassifier.of(folder, config))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote. Raises ValueError for NaN in it."""
        scorer = cls(PairClassifier.load(folder))
        wrong = [name for name, weight in scorer.model.named_parameters() if not bool(weight.isfinite().all())]
        if wrong:
            raise ValueError(f"{folder}: Expected finite weights, but got NaN in {wrong[0]!r}; train the model again.")
        return scorer

    @property
    def model(self) -> nn.Module:
        return self.classifier.model

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The texts as they are: nothing of a pair is known before both of it are."""
        return questions, answers

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        """Logits (N,), with gradients in training."""
        pairs = [(texts[0][q], texts[1][a]) for q, a in zip(questions.tolist(), answers.tolist(), strict=True)]
        return pair_logits(self.classifier.model, self.classifier.rows(pairs))

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,) float32."""
        return self.classifier.score(pairs)

    def save(self, folder: Path, *, card: str, graph: bool = True, int8: bool = True) -> None:
        """Write weights, and beside them the graph that `CrossEncoder.load` opens, also in int8.

        The graphs come after the weights: a crash between the two leaves a model without graphs, never one with the
        graphs of another. Raises ValueError for NaN or infinity in the weights, ModuleNotFoundError without `onnx`.
        """
        self.classifier.save(folder, card=card)
        if not graph:
            return
        with atomic_path(folder / GRAPH) as partial:
            export_pair_graph(folder / TRANSFORMER, self.classifier.model.output, partial)
        if int8:
            quantised(folder / GRAPH, folder / QUANTISED)


def optimiser(scorer: TrainedCrossEncoder, tuning: CrossEncoderTuning) -> torch.optim.Optimizer:
    """Adam over what is not frozen, the output layer at its own rate."""
    freeze(scorer, tuning.frozen)
    network = scorer.classifier.model
    kept = [weight for weight in network.transformer.parameters() if weight.requires_grad]
    groups = [
        {"params": kept, "lr": tuning.learning_rate},
        {"params": list(network.output.parameters()), "lr": tuning.head_rate},
    ]
    return torch.optim.Adam(groups)


def freeze(scorer: TrainedCrossEncoder, layers: int) -> None:
    """Keep the embeddings and so many lower layers as they are. Raises ValueError where there are fewer layers."""
    transformer = scorer.classifier.model.transformer
    if not layers:
        return
    found = getattr(getattr(transformer, "encoder", None), "layer", [])
    if layers > len(found):
        raise ValueError(f"Expected at most {len(found)} layers to freeze, but got {layers}; lower `frozen`.")
    for part in (transformer.embeddings, *found[:layers]):
        part.requires_grad_(False)


def tune_cross_encoder(
    training: Training,
    scorer: TrainedCrossEncoder,
    pool: AnswerPool,
    tuning: CrossEncoderTuning,
    *,
    held_out: AnswerPool | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Pointwise by binary cross-entropy, in batches of like length; with held-out pairs the highest MAP stays.

    Raises ValueError where all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)
    positive = _weight(pool, tuning)
    steps = -(-_drawn_pairs(pool, tuning) // tuning.batch)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        question, answer, label = draw(pool, tuning, rng)
        lengths = [len(texts[0][q]) + len(texts[1][a]) for q, a in zip(question.tolist(), answer.tolist(), strict=True)]
        for chosen in alike(lengths, rng, size=tuning.batch):
            yield question[chosen], answer[chosen], label[chosen]

    def loss(model: nn.Module, batch: tuple[IntArray, IntArray, FloatArray]) -> Tensor:  # noqa: ARG001 the scorer holds it
        question, answer, label = batch
        logits = scorer.scores(texts, question, answer)
        wanted = torch.from_numpy(label).to(logits)
        return functional.binary_cross_entropy_with_logits(logits, wanted, pos_weight=logits.new_tensor(positive))

    yield from train(
        training,
        drawn,
        loss,
        epochs=tuning.epochs,
        evaluate=(lambda _: mean_average_precision(scorer, held_out)) if held_out is not None else None,
        patience=tuning.patience if held_out is not None else None,
        clip=tuning.clip or None,
        schedule=triangle(tuning.epochs * steps, warm_up=tuning.warm_up),
        report_every=report_every,
        steps_per_epoch=steps,
    )


def draw(
    pool: AnswerPool, tuning: CrossEncoderTuning, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Questions, answers and labels (N,) of an epoch: all right pairs, and wrong ones as the settings say."""
    wrong = np.flatnonzero(~pool.label)
    if tuning.negatives:
        order = rng.permutation(wrong)
        order = order[np.argsort(pool.question[order], kind="stable")]
        asked = pool.question[order]
        nth = np.arange(len(asked)) - np.searchsorted(asked, asked)  # of its question
        right = np.bincount(pool.question[pool.label], minlength=len(pool.questions))
        wrong = order[nth < tuning.negatives * right[asked]]
    chosen = np.concatenate([np.flatnonzero(pool.label), wrong])
    question, answer = pool.question[chosen], pool.answer[chosen].copy()
    label = pool.label[chosen].astype(np.float32)
    exchanged = np.flatnonzero((label == 0) & (rng.random(len(label)) < tuning.elsewhere))
    strangers = rng.integers(len(pool.answers), size=len(exchanged))
    known = {*zip(pool.question[pool.label].tolist(), pool.answer[pool.label].tolist(), strict=True)}
    for place, stranger in zip(exchanged.tolist(), strangers.tolist(), strict=True):
        if (int(question[place]), stranger) not in known:
            answer[place] = stranger
    return question, answer, label


def _drawn_pairs(pool: AnswerPool, tuning: CrossEncoderTuning) -> int:
    """Pairs of an epoch, the same in each."""
    return len(draw(pool, tuning, np.random.default_rng(0))[2])


def _weight(pool: AnswerPool, tuning: CrossEncoderTuning) -> float:
    """Of right answers in the loss: their own, or what makes both kinds weigh the same."""
    if tuning.weight:
        return tuning.weight
    label = draw(pool, tuning, np.random.default_rng(0))[2]
    return float((label == 0).sum() / label.sum())
