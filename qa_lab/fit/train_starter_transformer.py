"""Trains the shipped transformer: MiniLM, tuned with all-mpnet-base-v2 as teacher, in 8 bits.

    python -m qa_lab.fit.train_starter_transformer --minilm DIR --mpnet DIR --data DIR --work DIR --out DIR

Sentence vectors learn the teacher's cosines within a batch and to tell the answering passage; token vectors learn
that the soft minimum of late interaction is high for the answering passage and low for the best wrong one. The tuned
weights are averaged with MiniLM's. A second run with the same folder of work continues the first one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.encoders.graphs.export import export_onnx
from qa_core.encoders.graphs.quantisation import quantise
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.word_pieces import write_vocabulary
from qa_core.networks.batching import batches, padded
from qa_core.networks.poolings import mean_pool, unit
from qa_core.training.loop import Training, seed_everything, train
from qa_core.training.resume import STATE, load_training, save_training
from qa_core.training.schedules import triangle
from qa_core.training.transformer_tuning import TunedTransformer, load_tunable, save_tuned
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.distil_starter import TEACHER_SHA256 as MINILM_SHA256
from qa_lab.fit.distil_starter import add_paths, say
from qa_lab.fit.late_interaction_loss import (
    QuestionWords,
    contrastive,
    distillation,
    margin_error,
    refusal,
    soft_minimum,
)
from qa_lab.fit.starter_pairs import Example, read_examples, texts_of
from qa_lab.fit.starter_tokens import TokenReader
from qa_lab.fit.teacher_vectors import encoded, open_teacher


@dataclass(frozen=True, slots=True)
class TuningConfig:
    """`scale` multiplies cosines before a softmax; the other weights multiply losses."""

    examples: int = 225  # questions, a twentieth of which is held out
    epochs: int = 2
    batch: int = 16  # questions, each with its passage and a hard negative
    rate: float = 2e-5
    warm_up: float = 0.1
    scale: float = 20.0
    margin: float = 0.05  # of the teacher's cosine, below which a passage counts as wrong
    contrast: float = 0.2
    margins: float = 10.0
    tokens: float = 0.5
    hardest: int = 8  # a hard negative is drawn from this many
    frozen_layers: int = 4  # of six, and the embeddings
    share: float = 0.3  # of the tuned weights in the average with MiniLM's
    seed: int = 0


class Batch(NamedTuple):
    """States below the tuned layers and masks of N questions and M passages, of which the first N answer."""

    questions: tuple[Tensor, Tensor]  # (N, T, D), (N, T)
    words: QuestionWords
    passages: tuple[Tensor, Tensor]  # (M, U, D), (M, U)
    teacher: Tensor  # cosines (N, M)


class Student(nn.Module):
    """The upper layers of the transformer, and the scale and bias that make a probability of the soft minimum."""

    def __init__(self, tuned: TunedTransformer, *, frozen: int) -> None:
        super().__init__()
        self.tuned = tuned
        self.frozen = frozen
        self.scale, self.bias = nn.Parameter(torch.tensor(10.0)), nn.Parameter(torch.tensor(-6.0))

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Unit vectors (B, D) and states (B, T, D) of the states below the tuned layers and the mask (B, T)."""
        for layer in self.tuned.model.encoder.layer[self.frozen :]:
            states = _first(layer(states, attention_mask=mask[:, None, None, :].bool()))
        return unit(mean_pool(states, mask.bool())), states

    @torch.no_grad()
    def below(self, rows: Sequence[Sequence[int]]) -> list[FloatArray]:
        """The states below the tuned layers (T, D) in float16: they never change, and are computed once."""
        result: list[Any] = [None] * len(rows)
        for batch in batches([len(row) for row in rows], tokens=4096):
            ids, mask = (torch.from_numpy(part) for part in padded([rows[i] for i in batch]))
            states = self.tuned.model.embeddings(input_ids=ids)
            for layer in self.tuned.model.encoder.layer[: self.frozen]:
                states = _first(layer(states, attention_mask=mask[:, None, None, :].bool()))
            for i, row in zip(batch, states, strict=True):
                result[i] = row[: len(rows[i])].numpy().astype(np.float16)
        return result

    def scores(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Cosines and soft minima of questions and passages, both (N, M)."""
        questions, question_states = self(*batch.questions)
        passages, passage_states = self(*batch.passages)
        soft = soft_minimum(question_states, batch.words, passage_states, inner(batch.passages[1]))
        return questions @ passages.T, soft


def _first(output: Any) -> Tensor:
    """The states among a layer's outputs, which versions of transformers return alone or first."""
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states


def inner(mask: Tensor) -> Tensor:
    """True at tokens that are neither padding nor the first or last one; (B, T)."""
    places = torch.arange(mask.shape[1])
    return (places > 0) & (places < mask.sum(1, keepdim=True) - 1)


@dataclass(frozen=True, slots=True)
class Taught:
    """Examples as places in the list of texts, with states below the tuned layers and the teacher's vectors (T, D)."""

    texts: Sequence[str]
    questions: IntArray  # (N,)
    answers: IntArray  # (N,)
    hard: IntArray  # (N, H), places of wrong passages
    vectors: FloatArray
    below: Sequence[FloatArray]

    def batch(self, reader: TokenReader, chosen: IntArray, rng: np.random.Generator) -> Batch:
        """The chosen examples, each with one of its hard negatives."""
        drawn = self.hard[chosen, rng.integers(self.hard.shape[1], size=len(chosen))]
        places = np.concatenate([self.answers[chosen], drawn])
        teacher = torch.from_numpy(self.vectors[self.questions[chosen]] @ self.vectors[places].T)
        same = torch.from_numpy(places[None, :] == self.answers[chosen][:, None])
        teacher = torch.where(same, teacher.diagonal().unsqueeze(1), teacher)
        question_states = self._states(self.questions[chosen])
        questions = [self.texts[i] for i in self.questions[chosen]]
        words = reader.question_words(questions, length=question_states[1].shape[1])
        return Batch(question_states, words, self._states(places), teacher)

    def _states(self, places: IntArray) -> tuple[Tensor, Tensor]:
        """States (B, T, D), padded with zeros, and mask (B, T)."""
        rows = [torch.from_numpy(self.below[i].astype(np.float32)) for i in places]
        lengths = torch.tensor([len(row) for row in rows])
        return nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.arange(int(lengths.max())) < lengths[:, None]


def taught(
    examples: Sequence[Example], vectors: FloatArray, below: Sequence[FloatArray], *, config: TuningConfig
) -> Taught:
    """Each example with the wrong passages that the teacher ranks highest, and the one of the same document."""
    texts = texts_of(examples)
    place = {text: i for i, text in enumerate(texts)}
    questions = np.array([place[example.question] for example in examples])
    answers = np.array([place[example.passage] for example in examples])
    passages = np.unique([place[text] for example in examples for text in example[1:3] if text])
    hard = np.empty((len(examples), config.hardest), dtype=np.int64)
    for i, example in enumerate(examples):
        cosines = vectors[passages] @ vectors[questions[i]]
        positive = float(vectors[answers[i]] @ vectors[questions[i]])
        wrong = (cosines < positive - config.margin) & (passages != answers[i])
        ranked = passages[wrong][np.argsort(-cosines[wrong])]
        ranked = ranked if len(ranked) else passages[passages != answers[i]]
        hard[i] = np.resize(ranked[: config.hardest], config.hardest)
        if example.near:
            hard[i, : config.hardest // 2] = place[example.near]
    return Taught(texts, questions, answers, hard, vectors, below)


def loss_of(config: TuningConfig) -> Any:
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(model, Student)
        with torch.autocast("cpu", torch.bfloat16):
            cosines, soft = model.scores(batch)
        cosines, soft = cosines.float(), soft.float()
        refused = refusal(soft, batch.teacher, scale=model.scale, bias=model.bias, margin=config.margin)
        return (
            distillation(cosines, batch.teacher, scale=config.scale)
            + config.contrast * contrastive(cosines, batch.teacher, scale=config.scale, margin=config.margin)
            + config.margins * margin_error(cosines, batch.teacher)
            + config.tokens * refused
        )

    return loss


@torch.no_grad()
def measured(model: Student, held: Sequence[Batch]) -> dict[str, float]:
    """Over held-out batches: how often the passage is first, the teacher's divergence, and the area under the curve
    of the soft minimum between each passage and the wrong one with the highest cosine."""
    from sklearn.metrics import roc_auc_score

    first, divergence, right, wrong = [], [], [], []
    for batch in held:
        cosines, soft = model.scores(batch)
        others = cosines.masked_fill(batch.teacher >= batch.teacher.diagonal().unsqueeze(1) - 1e-6, -1.0)
        best, place = others.max(1)
        first += (cosines.diagonal() > best).tolist()
        divergence.append(float(distillation(cosines, batch.teacher, scale=20.0)))
        right += soft.diagonal().tolist()
        wrong += soft.gather(1, place.unsqueeze(1)).squeeze(1).tolist()
    area = roc_auc_score([1] * len(right) + [0] * len(wrong), right + wrong)
    return {"first": float(np.mean(first)), "divergence": float(np.mean(divergence)), "AUC": float(area)}


def averaged(original: dict[str, Tensor], tuned: dict[str, Tensor], *, share: float) -> dict[str, Tensor]:
    """`(1 − share) · original + share · tuned` (Wortsman et al. 2022)."""
    return {
        name: (1 - share) * weight + share * tuned[name] if weight.is_floating_point() else weight
        for name, weight in original.items()
    }


def split(examples: Sequence[Example]) -> tuple[IntArray, IntArray]:
    """Places of the training and of the held-out examples; a passage is on one side only."""
    passages = {text: i for i, text in enumerate(dict.fromkeys(example.passage for example in examples))}
    held = np.array([passages[example.passage] % 20 == 0 for example in examples])
    return np.flatnonzero(~held), np.flatnonzero(held)


def tune(
    student: Student, data: Taught, places: IntArray, reader: TokenReader, work: Path, config: TuningConfig
) -> None:
    """Train, or continue the run saved in `work`."""
    tuned = [weight for name, weight in student.tuned.named_parameters() if not _is_frozen(name, config)]
    for name, weight in student.tuned.named_parameters():
        weight.requires_grad_(not _is_frozen(name, config))
    groups: list[dict[str, Any]] = [{"params": tuned}, {"params": [student.scale, student.bias], "lr": 1e-2}]
    training = Training(
        student, torch.optim.AdamW(groups, lr=config.rate, weight_decay=0.01, fused=True), seed=config.seed
    )
    if list(work.glob(f"**/{STATE}")):
        load_training(work, training)

    def drawn(_: int, rng: np.random.Generator) -> Iterator[Batch]:
        order = rng.permutation(places)
        for start in range(0, len(order) - config.batch + 1, config.batch):
            yield data.batch(reader, order[start : start + config.batch], rng)

    steps = len(places) // config.batch
    schedule = triangle(steps * config.epochs, warm_up=config.warm_up)
    for progress in train(
        training,
        drawn,
        loss_of(config),
        epochs=config.epochs,
        clip=1.0,
        schedule=schedule,
        report_every=10,
        size=lambda batch: len(batch.teacher),
    ):
        say(f"step {progress.step} of {steps * config.epochs}, loss {progress.loss:.4f}")
        save_training(work, training)


def _is_frozen(name: str, config: TuningConfig) -> bool:
    frozen = ("model.embeddings.", *(f"model.encoder.layer.{i}." for i in range(config.frozen_layers)))
    return name.startswith((*frozen, "model.pooler."))


def write(out: Path, tuned: Path, *, made_with: dict[str, Any]) -> None:
    """The graph in 8 bits with its tokeniser and settings, in sentence-transformers layout."""
    (out / "onnx").mkdir(parents=True, exist_ok=True)
    whole = tuned / "float.onnx"
    export_onnx(tuned, whole)
    quantise(whole, out / "onnx" / "model.onnx")
    for name in ("modules.json", "config.json", "sentence_bert_config.json", "tokenizer.json", "1_Pooling/config.json"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes((tuned / name).read_bytes())
    write_vocabulary(out)
    settings = {"weights_sha256": sha256(out / "onnx" / "model.onnx"), "made_with": made_with}
    (out / "made_with.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    arguments = _arguments()
    config = TuningConfig(
        examples=arguments.examples, epochs=arguments.epochs, rate=arguments.rate, share=arguments.share
    )
    torch.set_num_threads(arguments.threads)
    if (actual := sha256(arguments.minilm / "model.safetensors")) != MINILM_SHA256:
        raise ValueError(f"Expected the weights of all-MiniLM-L6-v2 ({MINILM_SHA256}), but got {actual}.")
    examples = read_examples(arguments.data, seed=config.seed)[: config.examples]
    texts = texts_of(examples)
    teacher = open_teacher(arguments.mpnet, arguments.work, threads=arguments.threads)
    vectors = encoded(teacher.encode, texts, arguments.work / "texts", say)
    layout = SentenceLayout.read(arguments.minilm)
    reader = TokenReader.of(layout, texts)
    seed_everything(config.seed)
    student = Student(load_tunable(layout), frozen=config.frozen_layers).eval()
    data = taught(examples, vectors, student.below(reader.rows(texts)), config=config)
    original = {name: weight.clone() for name, weight in student.state_dict().items()}
    train_places, held_places = split(examples)
    rng = np.random.default_rng(config.seed)
    held = [data.batch(reader, part, rng) for part in np.array_split(held_places, max(1, len(held_places) // 40))]
    say(f"MiniLM: {measured(student, held)}")
    tune(student, data, train_places, reader, arguments.work / "run", config)
    tuned = {name: weight.clone() for name, weight in student.state_dict().items()}
    for share in (0.3, 0.5, 0.7, 1.0):
        student.load_state_dict(averaged(original, tuned, share=share))
        say(f"share {share}: {measured(student, held)}")
    student.load_state_dict(averaged(original, tuned, share=config.share))
    save_tuned(arguments.work / "tuned", student.tuned, layout=layout, card="")
    write(arguments.out, arguments.work / "tuned", made_with=asdict(config) | {"minilm_sha256": MINILM_SHA256})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the shipped transformer.")
    add_paths(
        parser,
        minilm="folder of all-MiniLM-L6-v2 in sentence-transformers layout",
        mpnet="folder of all-mpnet-base-v2 in sentence-transformers layout",
        data="folder with qa_pairs/ and medquad/",
        work="folder of intermediate files for a second run",
        out="folder of the encoder",
    )
    parser.add_argument("--examples", type=int, default=TuningConfig().examples, help="questions to learn from")
    parser.add_argument("--epochs", type=int, default=TuningConfig().epochs)
    parser.add_argument("--rate", type=float, default=TuningConfig().rate, help="largest learning rate")
    parser.add_argument("--share", type=float, default=TuningConfig().share, help="share of the tuned weights")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
