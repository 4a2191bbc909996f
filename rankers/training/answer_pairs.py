"""What pair scorers learn from: questions with labelled answers, how pairs are drawn from them, and the two ways to
train on pairs, pointwise by cross-entropy and pairwise by a hinge.

    pool = AnswerPool.of(sets)
    for progress in train_pairwise(Training(scorer.model, optimiser, seed=1), scorer, pool, config, held_out=dev):
        print(progress)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qa_core.measures.metrics import evaluate
from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from rankers.neural import SCORED_AT_ONCE, TextPair, by_places

Sampling = Literal["random", "hard", "mix"]
Triple = tuple[int, int, int]
"""Places of a question, an answer to it, and one that is none."""


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A question and its candidate answers, each with a label."""

    question: str
    answers: tuple[str, ...]
    labels: tuple[bool, ...]
    id: str = ""

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.labels):
            raise ValueError(
                f"Expected a label for each answer, but got {len(self.answers)} answers and {len(self.labels)} labels."
            )

    @property
    def mixed(self) -> bool:
        """Whether there are right answers and wrong ones."""
        return len(set(self.labels)) == 2


@dataclass(frozen=True, eq=False)
class AnswerPool:
    """Labelled pairs as places of distinct questions and distinct answers."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]
    question: IntArray  # (N,)
    answer: IntArray  # (N,)
    label: NDArray[np.bool_]  # (N,)

    @classmethod
    def of(cls, sets: Iterable[AnswerSet]) -> Self:
        """A pair that stands there twice with different labels counts as right."""
        questions: dict[str, int] = {}
        answers: dict[str, int] = {}
        labels: dict[tuple[int, int], bool] = {}
        for each in sets:
            question = questions.setdefault(each.question, len(questions))
            for text, label in zip(each.answers, each.labels, strict=True):
                pair = question, answers.setdefault(text, len(answers))
                labels[pair] = labels.get(pair, False) or label
        pairs = np.array(list(labels), dtype=np.int64).reshape(-1, 2)
        return cls(tuple(questions), tuple(answers), pairs[:, 0], pairs[:, 1], np.array([*labels.values()], dtype=bool))

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def right(self) -> list[IntArray]:
        """Of each question, places of its answers."""
        return self._grouped(self.label)

    @cached_property
    def wrong(self) -> list[IntArray]:
        """Of each question, places of what was labelled as no answer to it."""
        return self._grouped(~self.label)

    def pairs(self) -> list[TextPair]:
        texts = zip(self.question.tolist(), self.answer.tolist(), strict=True)
        return [(self.questions[question], self.answers[answer]) for question, answer in texts]

    def _grouped(self, chosen: NDArray[np.bool_]) -> list[IntArray]:
        order = np.argsort(self.question[chosen], kind="stable")
        counts = np.bincount(self.question[chosen], minlength=len(self.questions))
        return np.split(self.answer[chosen][order], np.cumsum(counts)[:-1])


class Trainable(Protocol):
    """A pair scorer that can be trained: texts are read once, then score_no_grad by their places."""

    @property
    def model(self) -> nn.Module: ...

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Any:
        """What `scores` needs of the texts; whatever is frozen is computed here."""
        ...

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        """Scores (N,) of pairs given by places of questions (N,) and answers (N,), with gradients in training."""
        ...


@dataclass(frozen=True, slots=True)
class PointwiseConfig:
    batch: int = 64  # pairs
    epochs: int = 10
    patience: int = 3  # epochs without a better MAP on development data
    clip: float = 5.0  # largest norm of all gradients together; 0 is off
    balanced: bool = False  # as many wrong pairs as right ones, drawn anew in each epoch


@dataclass(frozen=True, slots=True)
class PairwiseConfig:
    batch: int = 100  # triples
    epochs: int = 25
    patience: int = 5
    clip: float = 0.0
    margin: float = 1.0  # λ
    negatives: int = 2  # of each right answer
    sampling: Sampling = "mix"  # half of the negatives the hardest of so many drawn, half at random
    drawn: int = 10  # candidates that the hardest are chosen from
    elsewhere: float = 0.0  # share of negatives that are answers of other questions


def train_pointwise(
    training: Training,
    scorer: Trainable,
    pool: AnswerPool,
    config: PointwiseConfig,
    *,
    held_out: AnswerPool | None = None,
) -> Iterator[Progress]:
    """By binary cross-entropy of the score as a logit; with held-out pairs the model of the highest MAP stays.

    Raises ValueError where all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)
    labels = torch.from_numpy(pool.label)
    size = 2 * min(pool.label.sum(), (~pool.label).sum()) if config.balanced else len(pool)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[IntArray]:
        places = np.arange(len(pool))
        if config.balanced:
            kinds = (np.flatnonzero(pool.label), np.flatnonzero(~pool.label))
            places = np.concatenate([rng.choice(kind, size // 2, replace=False) for kind in kinds])
        order = rng.permutation(places)
        return (order[start : start + config.batch] for start in range(0, len(order), config.batch))

    def loss(model: nn.Module, chosen: IntArray) -> Tensor:  # noqa: ARG001 the scorer holds it
        scores = scorer.scores(texts, pool.question[chosen], pool.answer[chosen])
        return pairwise_cross_entropy(scores, labels[chosen].to(scores.device))

    yield from _trained(training, scorer, drawn, loss, config, held_out, -(-int(size) // config.batch))


def train_pairwise(
    training: Training,
    scorer: Trainable,
    pool: AnswerPool,
    config: PairwiseConfig,
    *,
    held_out: AnswerPool | None = None,
) -> Iterator[Progress]:
    """By `Σ max(0, s(q, a⁻) + λ − s(q, a⁺))`; with held-out pairs the model of the highest MAP stays.

    Raises ValueError where all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)

    def hardness(questions: IntArray, answers: IntArray) -> FloatArray:
        return score_no_grad(scorer, texts, questions, answers)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        anchors = rng.permutation(np.flatnonzero(pool.label))
        step = max(1, config.batch // config.negatives)
        for start in range(0, len(anchors), step):
            yield triples(pool, anchors[start : start + step], rng, config, hardness)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:  # noqa: ARG001 the scorer holds it
        question, right, wrong = batch.T
        gap = scorer.scores(texts, question, wrong) + config.margin - scorer.scores(texts, question, right)
        return gap.clamp(min=0).sum()

    steps = -(-int(pool.label.sum()) // max(1, config.batch // config.negatives))
    yield from _trained(training, scorer, drawn, loss, config, held_out, steps)


def triples(
    pool: AnswerPool,
    anchors: IntArray,
    rng: np.random.Generator,
    config: PairwiseConfig,
    hardness: Any,
) -> NDArray[np.int64]:
    """For right pairs, given by their places, triples with wrong answers, (N, 3).

    Of `mix` sampling half of the negatives, rounded up, are those of `drawn` that the model scores highest. A question
    without wrong answers of its own gets those of others.
    """
    questions, right = pool.question[anchors], pool.answer[anchors]
    hard = {"random": 0, "hard": config.negatives, "mix": -(-config.negatives // 2)}[config.sampling]
    wide = max(config.negatives, config.drawn if hard else 0)
    wrong = np.stack([_wrong(pool, question, wide, rng, config.elsewhere) for question in questions.tolist()])  # (B, W)
    if hard:
        scores = hardness(np.repeat(questions, wide), wrong.ravel()).reshape(wrong.shape)
        hardest = np.argsort(-scores, axis=1, kind="stable")[:, :hard]
        wrong = np.concatenate([np.take_along_axis(wrong, hardest, 1), wrong], axis=1)
    wrong = wrong[:, : config.negatives]
    repeated = [np.repeat(each, config.negatives) for each in (questions, right)]
    return np.stack([*repeated, wrong.ravel()], axis=1)


def score_no_grad(scorer: Trainable, texts: Any, questions: IntArray, answers: IntArray) -> FloatArray:
    """Scores (N,) in evaluation mode and without gradients; the model is left in the mode it was in."""
    was_training = scorer.model.training
    scorer.model.eval()
    with torch.no_grad():
        parts = [
            scorer.scores(texts, questions[start : start + SCORED_AT_ONCE], answers[start : start + SCORED_AT_ONCE])
            for start in range(0, len(questions), SCORED_AT_ONCE)
        ]
    scorer.model.train(was_training)
    return torch.cat(parts).cpu().numpy() if parts else np.zeros(0, dtype=np.float32)


def score_pairs(scorer: Trainable, pairs: Sequence[TextPair]) -> FloatArray:
    """Scores (N,) of texts: what a trainable scorer's own `score` is."""
    questions, answers, left, right = by_places(pairs)
    return score_no_grad(scorer, scorer.read(questions, answers), left, right)


def mean_average_precision(scorer: Trainable, pool: AnswerPool, texts: Any = None) -> float:
    """MAP over the questions that have right answers and wrong ones; equal scores are ranked by a hash."""
    texts = texts if texts is not None else scorer.read(pool.questions, pool.answers)
    scores = score_no_grad(scorer, texts, pool.question, pool.answer)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    columns = (pool.question.tolist(), pool.answer.tolist(), pool.label.tolist(), scores.tolist())
    for question, answer, label, score in zip(*columns, strict=True):
        qrels.setdefault(str(question), {})[str(answer)] = int(label)
        run.setdefault(str(question), {})[str(answer)] = score
    both = {question: grades for question, grades in qrels.items() if len(set(grades.values())) == 2}
    return evaluate(both, {question: run[question] for question in both}, ("AP",))["AP"].mean


def check_mixed(pool: AnswerPool) -> None:
    """Raises ValueError where all pairs have one label, or there are none."""
    if len(set(pool.label.tolist())) < 2:
        told = f"all {len(pool)} are {'right' if pool.label[0] else 'wrong'}" if len(pool) else "got none"
        raise ValueError(f"Expected pairs that are right and pairs that are wrong, but {told}; give both kinds.")


def _trained(
    training: Training,
    scorer: Trainable,
    drawn: Any,
    loss: Any,
    config: PointwiseConfig | PairwiseConfig,
    held_out: AnswerPool | None,
    steps: int,
) -> Iterator[Progress]:
    texts = scorer.read(held_out.questions, held_out.answers) if held_out is not None else None
    return train(
        training,
        drawn,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: mean_average_precision(scorer, held_out, texts)) if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        report_every=50,
        steps_per_epoch=steps,
    )


def _wrong(pool: AnswerPool, question: int, count: int, rng: np.random.Generator, elsewhere: float) -> IntArray:
    """Wrong answers of a question, drawn with replacement, so many of them from other questions."""
    own = pool.wrong[question]
    others = count if not len(own) else int(rng.binomial(count, elsewhere))
    chosen = rng.choice(own, count - others) if others < count else np.zeros(0, dtype=np.int64)
    strangers = rng.integers(len(pool.answers), size=others)
    right = pool.right[question]
    for _ in range(10):  # an answer of its own is drawn again
        clash = np.isin(strangers, right)
        if not clash.any():
            break
        strangers[clash] = rng.integers(len(pool.answers), size=int(clash.sum()))
    drawn: IntArray = np.concatenate([chosen, strangers[~np.isin(strangers, right)]])
    if len(drawn) < count:  # as good as all answers are right
        rest = own if len(own) else np.setdiff1d(pool.answer, right)
        if not len(rest):
            raise ValueError(
                f"Expected a wrong answer to {pool.questions[question]!r}, but every answer is right; give others too."
            )
        drawn = np.concatenate([drawn, rng.choice(rest, count - len(drawn))])
    return rng.permutation(drawn)
