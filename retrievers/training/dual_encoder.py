"""Trains dual encoders for similar questions (Gillick et al. 2018): one encoder for all tasks, from pairs alone.

    tower = mean_tower(texts, WordConfig())
    model = DualEncoder(tower.model, tasks=1, alpha=10.0)
    training = Training(model, optimiser(model, config), seed=1)
    for progress in train_dual(training, tower, [Task("quora", questions)], config, held_out=[dev]):
        print(progress)

The encoder of the paper is the mean of word vectors; other towers can be trained the same way. A task adds only an
affine map from cosines to logits, and the loss of a step is the mean over the tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from qa_core.encoders.trained_encoder import MeanTextConfig, WordReader
from qa_core.networks.losses import Affine, in_batch_cross_entropy, in_batch_softmax, pairwise_cross_entropy, triplet
from qa_core.networks.poolings import MeanConfig, MeanEncoder, unit
from qa_core.networks.vocabulary import Vocabulary
from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.cached_gradients import encoded
from retrievers.training.encoders.trainable_encoders import Tower, counted, vectors
from retrievers.training.encoders.word_tower import SPECIALS, WordConfig, WordTower
from retrievers.training.questions import QuestionSet

MEASURED = 1000
"""Pairs of a batch in which P@1 is measured, independent of training batches so that runs are comparable."""
_CHUNK = 1 << 13  # tokens; larger chunks are mostly padding and slower


@dataclass(frozen=True, slots=True)
class DualConfig:
    """Defaults of the paper unless noted; `PAPER` has those of the paper."""

    loss: Literal["softmax", "cross-entropy", "triplet", "pairwise"] = "softmax"
    batch: int = 1000  # pairs per task
    learning_rate: float = 0.1  # .01 in the paper; on 2,242 pairs of Quora it ends at P@1 .906 instead of .928
    momentum: float = 0.9
    alpha: float = 10.0  # initial factor of the cosines; the paper gives none
    margin: float = 0.5  # δ, of triplet
    epochs: int = 100  # over the largest task, at most
    patience: int = 5  # epochs without a better in-batch P@1 on held-out pairs
    mask_similar: bool = True  # no known similar question is a negative; in the paper every other one of the batch is
    pretrain: bool = True  # train on the largest of several tasks first, until it stops improving


PAPER = DualConfig(learning_rate=0.01, mask_similar=False)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Questions to learn from, and a name for messages."""

    name: str
    questions: QuestionSet


@dataclass(frozen=True, slots=True, eq=False)
class TaskBatch:
    """Pairs of one task.

    With an in-batch loss all pairs are similar, and `allowed` (N, N) is true if a right question may be a negative of a
    left one. With the pairwise loss, `labels` (N,) distinguish similar and different pairs.
    """

    task: int
    left: IntArray  # (N,)
    right: IntArray  # (N,)
    allowed: NDArray[np.bool_] | None = None
    labels: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.left)


Batch = Sequence[TaskBatch]
"""One batch per task."""


class DualEncoder(nn.Module):
    """The encoder that all tasks share, and an affine map for each task."""

    def __init__(self, encoder: nn.Module, *, tasks: int, alpha: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.affines = nn.ModuleList(Affine(alpha=alpha) for _ in range(tasks))


def mean_tower(texts: Iterable[str], config: WordConfig, *, pretrained: WordVectors | None = None) -> WordTower:
    """The encoder of the paper over the words of the texts; torch's generator draws its weights.

    Args:
        pretrained: initial vectors; its further words fill the rest of the vocabulary.

    Raises:
        ValueError: fewer than two words occur often enough.
    """
    counts = counted(texts)
    words = [word for word in sorted(counts, key=lambda word: (-counts[word], word)) if counts[word] >= config.minimum]
    if len(words) < 2:
        raise ValueError(
            f"Expected at least two words that occur {config.minimum} times in the questions, but got {words} of "
            f"{len(counts)}; give more pairs, or lower `minimum`."
        )
    further = [word for word in pretrained.words if word not in counts] if pretrained else []
    vocabulary = Vocabulary((*SPECIALS, *[*words, *further][: config.vocabulary]))
    dimension = pretrained.dimension if pretrained else config.dimension
    shape = MeanTextConfig(MeanConfig(len(vocabulary), dimension), config.max_tokens)
    model = MeanEncoder(shape.encoder)
    if pretrained is not None:
        _copy_vectors(model, vocabulary, pretrained)
    often = sorted(word for word in words if counts[word] >= config.known and word in vocabulary)
    known = often if pretrained is None else sorted({*often, *(w for w in vocabulary.tokens if w in pretrained)})
    return WordTower(model, WordReader(vocabulary, config.max_tokens), shape, tuple(known), _CHUNK)


def _copy_vectors(model: MeanEncoder, vocabulary: Vocabulary, pretrained: WordVectors) -> None:
    """Words without a vector start at zero."""
    table = model.embedding.E_tune
    assert table is not None, "a mean of trained vectors"
    with torch.no_grad():
        table.copy_(torch.from_numpy(pretrained.rows(vocabulary.tokens)))


def optimiser(model: nn.Module, config: DualConfig) -> torch.optim.Optimizer:
    """SGD with momentum over the trainable weights."""
    weights = (p for p in model.parameters() if p.requires_grad)
    return torch.optim.SGD(weights, lr=config.learning_rate, momentum=config.momentum)


def train_dual(
    training: Training,
    tower: Tower,
    tasks: Sequence[Task],
    config: DualConfig,
    *,
    held_out: Sequence[QuestionSet] = (),
    only: int | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train a `DualEncoder` around the model of the tower; it ends with the weights of the best held-out P@1.

    Args:
        training: holds the model; only it changes, so a saved run is resumed with the same arguments.
        held_out: sets of pairs for the mean in-batch P@1; without them there is no early stop.
        only: number of the only task to train.

    Raises:
        ValueError: a task has no similar pairs, or no different pairs although the loss needs them.
    """
    chosen = range(len(tasks)) if only is None else [only]
    for number in chosen:
        _check(tasks[number], config)
    rows = [tower.rows(task.questions.texts, side="question") for task in tasks]
    dev = [questions for questions in held_out if len(questions)]

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterable[Batch]:
        return batches(tasks, chosen, rng, config)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(model, DualEncoder)
        losses = [_loss(model, part, rows[part.task], config, tower.chunk) for part in batch]
        return torch.stack(losses).mean()

    yield from train(
        training,
        epoch_batches,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: precision(tower, dev)) if dev else None,
        patience=config.patience if dev else None,
        report_every=report_every,
        steps_per_epoch=max(_steps(tasks[number], config) for number in chosen),
        size=lambda batch: sum(map(len, batch)),
    )


def largest(tasks: Sequence[Task]) -> int:
    """The number of the task with the most similar pairs."""
    return max(range(len(tasks)), key=lambda number: len(tasks[number].questions))


def batches(
    tasks: Sequence[Task], chosen: Iterable[int], rng: np.random.Generator, config: DualConfig
) -> Iterator[Batch]:
    """Every pair of the largest task once; those of other tasks are repeated as needed."""
    streams = [_stream(number, tasks[number].questions, rng, config) for number in chosen]
    for _ in range(max(_steps(tasks[number], config) for number in chosen)):
        yield [next(stream) for stream in streams]


def precision(tower: Tower, sets: Iterable[QuestionSet], *, batch: int = MEASURED) -> float:
    """In-batch P@1, the mean over sets: the share of pairs whose second question is nearest to the first in a batch.

    Other questions of the same component do not count as wrong; a wrong one with an equal score does.
    """
    return float(np.mean([_precision(vectors(tower, q.texts, side="question"), q, batch) for q in sets]))


def _precision(rows: FloatArray, questions: QuestionSet, batch: int) -> float:
    component = questions.closure()
    hits = 0
    for pairs in np.array_split(questions.similar, -(-len(questions.similar) // batch)):
        left, right = pairs.T
        scores = rows[left] @ rows[right].T  # (N, N)
        wrong = component[left][:, None] != component[right][None, :]
        hits += int((scores.diagonal() > np.where(wrong, scores, -np.inf).max(axis=1)).sum())
    return hits / len(questions.similar)


def _loss(model: DualEncoder, batch: TaskBatch, rows: Sequence[IntArray], config: DualConfig, chunk: int) -> Tensor:
    texts = [rows[number] for number in np.concatenate([batch.left, batch.right])]
    left, right = _encoded(model.encoder, texts, chunk).chunk(2)  # (N, D)
    affine = model.affines[batch.task]
    if batch.labels is not None:
        return pairwise_cross_entropy(affine((left * right).sum(1)), torch.from_numpy(batch.labels).to(left.device))
    assert batch.allowed is not None, "a batch has labels or a mask of negatives"
    cosines, allowed = left @ right.T, torch.from_numpy(batch.allowed).to(left.device)  # (N, N)
    match config.loss:
        case "cross-entropy":
            return in_batch_cross_entropy(affine(cosines), allowed=allowed)
        case "triplet":  # of cosines, because a learned scale would make any margin small
            return triplet(cosines, allowed=allowed, margin=config.margin)
        case _:
            return in_batch_softmax(affine(cosines), allowed=allowed)


def _encoded(encoder: nn.Module, rows: Sequence[IntArray], chunk: int) -> Tensor:
    """Vectors (N, D); the mean of word vectors is computed without padding, several times as fast."""
    if type(encoder) is not MeanEncoder:
        return encoded(encoder, rows, side="question", tokens=chunk)
    device = next(encoder.parameters()).device
    lengths = np.array([len(row) for row in rows])
    words = torch.from_numpy(np.concatenate(rows)).to(device)  # (T,)
    begins = torch.from_numpy(lengths.cumsum() - lengths).to(device)  # (N,)
    tables = [table for table in (encoder.embedding.E_pre, encoder.embedding.E_tune) if table is not None]
    means = torch.stack([functional.embedding_bag(words, table, begins, mode="mean") for table in tables]).sum(0)
    return unit(means) if encoder.config.normalised else means


def _stream(number: int, questions: QuestionSet, rng: np.random.Generator, config: DualConfig) -> Iterator[TaskBatch]:
    """Endless batches of nearly equal size, shuffled anew in every pass, with random sides of the questions."""
    component = questions.closure()
    pairs, labels = questions.similar, np.ones(len(questions.similar), dtype=np.bool_)
    if config.loss == "pairwise":
        pairs = np.concatenate([pairs, questions.different])
        labels = np.concatenate([labels, np.zeros(len(questions.different), dtype=np.bool_)])
    for _ in count():
        order = rng.permutation(len(pairs))
        for part in np.array_split(order, -(-len(order) // config.batch)):
            turned = rng.random(len(part)) < 0.5
            left, right = np.where(turned, pairs[part].T[::-1], pairs[part].T)
            if config.loss == "pairwise":
                yield TaskBatch(number, left, right, labels=labels[part])
            else:
                different = component[left][:, None] != component[right][None, :]
                yield TaskBatch(number, left, right, allowed=different | (not config.mask_similar))


def _steps(task: Task, config: DualConfig) -> int:
    labelled = len(task.questions.different) if config.loss == "pairwise" else 0
    return -(-(len(task.questions) + labelled) // config.batch)


def _check(task: Task, config: DualConfig) -> None:
    if not len(task.questions):
        raise ValueError(f"Expected pairs of similar questions to train on, but got none in {task.name}; add some.")
    if config.loss == "pairwise" and not len(task.questions.different):
        raise ValueError(
            f"Expected pairs labelled 0 for the pairwise loss, but got none in {task.name}; add some, or choose the "
            "loss softmax, cross-entropy or triplet, which draw negatives from the batch."
        )
