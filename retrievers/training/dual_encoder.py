"""Dual encoders for similar questions (Gillick et al. 2018): one encoder for all tasks, trained on pairs alone.

    tower = mean_tower(texts, WordConfig())
    model = DualEncoder(tower.model, tasks=1, alpha=10.0)
    training = Training(model, optimiser(model, config), seed=1)
    for progress in train_dual(training, tower, [Task("quora", questions)], config, held_out=[dev]):
        print(progress)

The encoder of the paper is the mean of word vectors; any other tower can be trained so. A task adds no more than an
affine map from cosines to logits, and the loss of a step is the mean of the tasks' losses.
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
from retrievers.training.encoders.trainable_encoders import SEEN_OFTEN, Tower, counted, vectors
from retrievers.training.encoders.word_tower import SPECIALS, WordConfig, WordTower
from retrievers.training.questions import QuestionSet

MEASURED = 1000
"""Pairs of a batch that P@1 is taken of, whatever the batches of training: runs can be compared."""
_CHUNK = 1 << 13  # tokens at once: longer runs are mostly padding, and slower than a second pass


@dataclass(frozen=True, slots=True)
class DualConfig:
    """As in the paper where nothing else is said."""

    loss: Literal["softmax", "cross-entropy", "triplet", "pairwise"] = "softmax"
    batch: int = 1000  # pairs, of each task
    learning_rate: float = 0.1  # .01 in the paper; on 2,242 pairs of Quora it ends at P@1 .906 instead of .928
    momentum: float = 0.9
    alpha: float = 10.0  # what cosines are multiplied by at first; the paper does not say
    margin: float = 0.5  # δ, of triplet
    epochs: int = 100  # over the largest task, at most
    patience: int = 5  # epochs without a better in-batch P@1 on held-out pairs
    pretrain: bool = True  # of several tasks the largest alone first, until it gets no better


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Questions to learn from; a name for messages."""

    name: str
    questions: QuestionSet


@dataclass(frozen=True, slots=True, eq=False)
class TaskBatch:
    """Pairs of one task.

    With an in-batch loss all pairs are similar, and `kept` (N, N) is true where a question of the left side and one of
    the right are not known to be. With the pairwise loss `labels` (N,) tell them apart.
    """

    task: int
    left: IntArray  # (N,)
    right: IntArray  # (N,)
    kept: NDArray[np.bool_] | None = None
    labels: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.left)


Batch = Sequence[TaskBatch]
"""A batch of every task."""


class DualEncoder(nn.Module):
    """The encoder that all tasks share, and an affine map for each of them."""

    def __init__(self, encoder: nn.Module, *, tasks: int, alpha: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.affines = nn.ModuleList(Affine(alpha=alpha) for _ in range(tasks))


def mean_tower(texts: Iterable[str], config: WordConfig, *, pretrained: WordVectors | None = None) -> WordTower:
    """The encoder of the paper over the words of the texts; torch's generator draws its first weights.

    Args:
        pretrained: what the vectors start from instead; its other words come into the vocabulary too, as many as
            there is room for.

    Raises:
        ValueError: fewer than two words stand often enough.
    """
    counts = counted(texts)
    words = [word for word in sorted(counts, key=lambda word: (-counts[word], word)) if counts[word] >= config.minimum]
    if len(words) < 2:
        raise ValueError(
            f"Expected at least two words that stand {config.minimum} times in the questions, but got {words} of "
            f"{len(counts)}; give more pairs, or lower `minimum`."
        )
    further = [word for word in pretrained.words if word not in counts] if pretrained else []
    vocabulary = Vocabulary((*SPECIALS, *[*words, *further][: config.vocabulary]))
    dimension = pretrained.dimension if pretrained else config.dimension
    shape = MeanTextConfig(MeanConfig(len(vocabulary), dimension), config.max_tokens)
    model = MeanEncoder(shape.encoder)
    if pretrained is not None:
        _start_from(model, vocabulary, pretrained)
    often = sorted(word for word in words if counts[word] >= SEEN_OFTEN and word in vocabulary)
    known = often if pretrained is None else sorted({*often, *(w for w in vocabulary.tokens if w in pretrained)})
    return WordTower(model, WordReader(vocabulary, config.max_tokens), shape, tuple(known), _CHUNK)


def _start_from(model: MeanEncoder, vocabulary: Vocabulary, pretrained: WordVectors) -> None:
    """Words without a vector start at zero: what they mean is not known yet."""
    table = model.embedding.E_tune
    assert table is not None, "a mean of trained vectors"
    rows = np.zeros(table.shape, dtype=np.float32)
    for place, word in enumerate(vocabulary.tokens):
        if word in pretrained:
            rows[place] = pretrained.vector(word)
    with torch.no_grad():
        table.copy_(torch.from_numpy(rows))


def optimiser(model: nn.Module, config: DualConfig) -> torch.optim.Optimizer:
    """Gradient descent with momentum over what can be trained."""
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
    """Train a `DualEncoder` around the tower's model; it ends with the weights of the best in-batch P@1 held out.

    Args:
        training: holds the model, and is the only thing that changes; a saved run goes on with the same arguments.
        held_out: pairs of which the mean P@1 is taken, set by set; none means no early stop.
        only: the number of the one task to train.

    Raises:
        ValueError: a task has no similar pair, or none that is labelled different where the loss needs some.
    """
    chosen = range(len(tasks)) if only is None else [only]
    for number in chosen:
        _check(tasks[number], config)
    rows = [tower.rows(task.questions.texts, side="question") for task in tasks]
    measured = [each for each in held_out if len(each)]

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterable[Batch]:
        return batches(tasks, chosen, rng, config)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(model, DualEncoder)
        losses = [_loss(model, part, rows[part.task], config, tower.chunk) for part in batch]
        return torch.stack(losses).mean()

    yield from train(
        training,
        drawn,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: precision(tower, measured)) if measured else None,
        patience=config.patience if measured else None,
        report_every=report_every,
        steps_per_epoch=max(_steps(tasks[number], config) for number in chosen),
        size=lambda batch: sum(map(len, batch)),
    )


def largest(tasks: Sequence[Task]) -> int:
    """The number of the task with most similar pairs."""
    return max(range(len(tasks)), key=lambda number: len(tasks[number].questions))


def batches(
    tasks: Sequence[Task], chosen: Iterable[int], rng: np.random.Generator, config: DualConfig
) -> Iterator[Batch]:
    """Every pair of the largest task once, those of the others as often as it takes."""
    streams = [_stream(number, tasks[number].questions, rng, config) for number in chosen]
    for _ in range(max(_steps(tasks[number], config) for number in chosen)):
        yield [next(stream) for stream in streams]


def precision(tower: Tower, sets: Iterable[QuestionSet], *, batch: int = MEASURED) -> float:
    """In-batch P@1: of each first question of a pair, is its second the nearest of the batch? The mean over sets.

    Others that the closure tells to be similar do not count as wrong; an equal score of a wrong one counts against.
    """
    return float(np.mean([_precision(vectors(tower, each.texts, side="question"), each, batch) for each in sets]))


def _precision(found: FloatArray, questions: QuestionSet, batch: int) -> float:
    component = questions.closure()
    hits = 0
    for pairs in np.array_split(questions.similar, -(-len(questions.similar) // batch)):
        left, right = pairs.T
        scores = found[left] @ found[right].T  # (N, N)
        wrong = component[left][:, None] != component[right][None, :]
        hits += int((scores.diagonal() > np.where(wrong, scores, -np.inf).max(axis=1)).sum())
    return hits / len(questions.similar)


def _loss(model: DualEncoder, batch: TaskBatch, rows: Sequence[IntArray], config: DualConfig, chunk: int) -> Tensor:
    places = np.concatenate([batch.left, batch.right])
    left, right = _encoded(model.encoder, [rows[place] for place in places], chunk).chunk(2)  # (N, D)
    affine = model.affines[batch.task]
    if batch.labels is not None:
        return pairwise_cross_entropy(affine((left * right).sum(1)), torch.from_numpy(batch.labels).to(left.device))
    assert batch.kept is not None, "either labels or what may serve as a negative"
    cosines, kept = left @ right.T, torch.from_numpy(batch.kept).to(left.device)  # (N, N)
    match config.loss:
        case "cross-entropy":
            return in_batch_cross_entropy(affine(cosines), kept=kept)
        case "triplet":  # of cosines: a scale that is learned would make any margin small
            return triplet(cosines, kept=kept, margin=config.margin)
        case _:
            return in_batch_softmax(affine(cosines), kept=kept)


def _encoded(encoder: nn.Module, rows: Sequence[IntArray], chunk: int) -> Tensor:
    """Vectors (N, D); a mean of word vectors needs no padding, which makes it several times as fast."""
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
    """Batches of nearly one size without end, shuffled anew for every pass; which question stands left is drawn."""
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
                yield TaskBatch(number, left, right, kept=component[left][:, None] != component[right][None, :])


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
