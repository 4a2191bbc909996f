"""Trains a cross-encoder on questions with labelled answers, and exports the ONNX graphs that serve it.

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
from qa_core.encoders.graphs.export import export_pair_graph
from qa_core.encoders.pair_tokens import PairConfig, TextPair
from qa_core.encoders.transformer_encoder import quantised
from qa_core.training.loop import Progress, Training, train
from qa_core.training.pair_classifier import (
    GRAPH,
    QUANTISED,
    TRANSFORMER,
    PairClassifier,
    pair_logits,
    similar_length_batches,
)
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
    head_rate: float = 1e-3  # of the output layer, which is new
    warm_up: float = 0.1  # share of all steps
    clip: float = 1.0  # maximum norm of all gradients together; 0 is off
    frozen: int = 0  # lower layers to freeze, together with the embeddings
    negatives: int = 0  # wrong answers per right one, drawn anew in each epoch; 0 takes all
    elsewhere: float = 0.0  # share of the wrong answers that are replaced by answers of other questions
    weight: float = 1.0  # of a right answer in the loss; 0 balances the two kinds


@dataclass(frozen=True, slots=True, eq=False)
class TrainedCrossEncoder:
    """A pair classifier as a trainable pair scorer (`rankers.trainable.Trainable`)."""

    classifier: PairClassifier

    @classmethod
    def of(cls, folder: Path, config: PairConfig) -> Self:
        """The transformer of a folder with a new output layer; raises the errors of `PairClassifier.of`."""
        return cls(PairClassifier.of(folder, config))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A saved model. Raises ValueError if it contains NaN."""
        return cls(PairClassifier.load(folder))

    @property
    def model(self) -> nn.Module:
        return self.classifier.model

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The texts unchanged, because the transformer needs both texts of a pair."""
        return questions, answers

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        """Logits (N,), with gradients in training."""
        pairs = [(texts[0][q], texts[1][a]) for q, a in zip(questions.tolist(), answers.tolist(), strict=True)]
        return pair_logits(self.classifier.model, self.classifier.rows(pairs))

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,) float32."""
        return self.classifier.score(pairs)

    def save(self, folder: Path, *, card: str, graph: bool = True, int8: bool = True) -> None:
        """Write the weights, the graph for `CrossEncoder.load` and its int8 version.

        Graphs are written after the weights: a crash in between leaves a model without graphs, never with those of
        another model. Raises ValueError if weights are not finite, ModuleNotFoundError without `onnx`.
        """
        self.classifier.save(folder, card=card)
        if not graph:
            return
        with atomic_path(folder / GRAPH) as partial:
            export_pair_graph(folder / TRANSFORMER, self.classifier.model.output, partial)
        if int8:
            quantised(folder / GRAPH, folder / QUANTISED)


def optimiser(scorer: TrainedCrossEncoder, tuning: CrossEncoderTuning) -> torch.optim.Optimizer:
    """Adam over all weights that are not frozen, with a separate rate of the output layer."""
    freeze(scorer, tuning.frozen)
    network = scorer.classifier.model
    trainable = [weight for weight in network.transformer.parameters() if weight.requires_grad]
    groups = [
        {"params": trainable, "lr": tuning.learning_rate},
        {"params": list(network.output.parameters()), "lr": tuning.head_rate},
    ]
    return torch.optim.Adam(groups)


def freeze(scorer: TrainedCrossEncoder, layers: int) -> None:
    """Freeze the embeddings and the lower `layers`. Raises ValueError if there are fewer layers."""
    transformer = scorer.classifier.model.transformer
    if not layers:
        return
    available = getattr(getattr(transformer, "encoder", None), "layer", [])
    if layers > len(available):
        raise ValueError(f"Expected at most {len(available)} layers to freeze, but got {layers}; lower `frozen`.")
    for part in (transformer.embeddings, *available[:layers]):
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
    """Train pointwise by binary cross-entropy; with held-out pairs it ends with the best MAP.

    Raises ValueError if all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)
    positive = _weight(pool, tuning)
    steps = -(-_epoch_size(pool, tuning) // tuning.batch)

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        question, answer, label = sample_epoch(pool, tuning, rng)
        lengths = [len(texts[0][q]) + len(texts[1][a]) for q, a in zip(question.tolist(), answer.tolist(), strict=True)]
        for members in similar_length_batches(lengths, rng, size=tuning.batch):
            yield question[members], answer[members], label[members]

    def loss(model: nn.Module, batch: tuple[IntArray, IntArray, FloatArray]) -> Tensor:  # noqa: ARG001 the scorer holds it
        question, answer, label = batch
        logits = scorer.scores(texts, question, answer)
        targets = torch.from_numpy(label).to(logits)
        return functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=logits.new_tensor(positive))

    yield from train(
        training,
        epoch_batches,
        loss,
        epochs=tuning.epochs,
        evaluate=(lambda _: mean_average_precision(scorer, held_out)) if held_out is not None else None,
        patience=tuning.patience if held_out is not None else None,
        clip=tuning.clip or None,
        schedule=triangle(tuning.epochs * steps, warm_up=tuning.warm_up),
        report_every=report_every,
        steps_per_epoch=steps,
    )


def sample_epoch(
    pool: AnswerPool, tuning: CrossEncoderTuning, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Questions, answers and labels (N,) of an epoch: all right pairs, and wrong ones by the settings."""
    wrong = np.flatnonzero(~pool.label)
    if tuning.negatives:
        order = rng.permutation(wrong)
        order = order[np.argsort(pool.question[order], kind="stable")]
        questions = pool.question[order]
        nth = np.arange(len(questions)) - np.searchsorted(questions, questions)  # among the answers of the question
        right = np.bincount(pool.question[pool.label], minlength=len(pool.questions))
        wrong = order[nth < tuning.negatives * right[questions]]
    chosen = np.concatenate([np.flatnonzero(pool.label), wrong])
    question, answer = pool.question[chosen], pool.answer[chosen].copy()
    label = pool.label[chosen].astype(np.float32)
    replaced = np.flatnonzero((label == 0) & (rng.random(len(label)) < tuning.elsewhere))
    strangers = rng.integers(len(pool.answers), size=len(replaced))
    known = {*zip(pool.question[pool.label].tolist(), pool.answer[pool.label].tolist(), strict=True)}
    for row, stranger in zip(replaced.tolist(), strangers.tolist(), strict=True):
        if (int(question[row]), stranger) not in known:
            answer[row] = stranger
    return question, answer, label


def _epoch_size(pool: AnswerPool, tuning: CrossEncoderTuning) -> int:
    """Number of pairs in every epoch."""
    return len(sample_epoch(pool, tuning, np.random.default_rng(0))[2])


def _weight(pool: AnswerPool, tuning: CrossEncoderTuning) -> float:
    """Weight of right answers in the loss: the configured one, or one that balances both kinds."""
    if tuning.weight:
        return tuning.weight
    label = sample_epoch(pool, tuning, np.random.default_rng(0))[2]
    return float((label == 0).sum() / label.sum())
