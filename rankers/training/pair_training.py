"""Trains pair scorers on labelled pairs: pointwise by cross-entropy, or pairwise by a hinge.

pool = AnswerPool.of(sets)
for progress in train_pairwise(Training(scorer.model, optimiser, seed=1), scorer, pool, config, held_out=dev):
    print(progress)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from rankers.trainable import Trainable, score_no_grad
from rankers.training.answer_pool import AnswerPool, check_mixed

Sampling = Literal["random", "hard", "mix"]


@dataclass(frozen=True, slots=True)
class PointwiseConfig:
    batch: int = 64  # pairs
    epochs: int = 10
    patience: int = 3  # epochs without a better MAP on development data
    clip: float = 5.0  # maximum norm of all gradients together; 0 is off
    balanced: bool = False  # as many wrong pairs as right ones, drawn anew in each epoch


@dataclass(frozen=True, slots=True)
class PairwiseConfig:
    batch: int = 100  # triples
    epochs: int = 25
    patience: int = 5
    clip: float = 0.0
    margin: float = 1.0  # λ
    negatives: int = 2  # of each right answer
    sampling: Sampling = "mix"  # half of the negatives the hardest of those drawn, half at random
    drawn: int = 10  # candidates from which the hardest are chosen
    elsewhere: float = 0.0  # share of negatives that are answers of other questions


def train_pointwise(
    training: Training,
    scorer: Trainable,
    pool: AnswerPool,
    config: PointwiseConfig,
    *,
    held_out: AnswerPool | None = None,
) -> Iterator[Progress]:
    """Train by binary cross-entropy of the score as a logit; with held-out pairs it ends with the best MAP.

    Raises ValueError if all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)
    labels = torch.from_numpy(pool.label)
    size = 2 * min(pool.label.sum(), (~pool.label).sum()) if config.balanced else len(pool)

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterator[IntArray]:
        rows = np.arange(len(pool))
        if config.balanced:
            kinds = (np.flatnonzero(pool.label), np.flatnonzero(~pool.label))
            rows = np.concatenate([rng.choice(kind, size // 2, replace=False) for kind in kinds])
        order = rng.permutation(rows)
        return (order[start : start + config.batch] for start in range(0, len(order), config.batch))

    def loss(model: nn.Module, rows: IntArray) -> Tensor:  # noqa: ARG001 the scorer holds it
        scores = scorer.scores(texts, pool.question[rows], pool.answer[rows])
        return pairwise_cross_entropy(scores, labels[rows].to(scores.device))

    yield from _train(training, scorer, epoch_batches, loss, config, held_out, -(-int(size) // config.batch))


def train_pairwise(
    training: Training,
    scorer: Trainable,
    pool: AnswerPool,
    config: PairwiseConfig,
    *,
    held_out: AnswerPool | None = None,
) -> Iterator[Progress]:
    """Train by `Σ max(0, s(q, a⁻) + λ − s(q, a⁺))`; with held-out pairs it ends with the best MAP.

    Raises ValueError if all pairs have one label.
    """
    check_mixed(pool)
    texts = scorer.read(pool.questions, pool.answers)

    def hardness(questions: IntArray, answers: IntArray) -> FloatArray:
        return score_no_grad(scorer, texts, questions, answers)

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        anchors = rng.permutation(np.flatnonzero(pool.label))
        step = max(1, config.batch // config.negatives)
        for start in range(0, len(anchors), step):
            yield triples(pool, anchors[start : start + step], rng, config, hardness)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:  # noqa: ARG001 the scorer holds it
        question, right, wrong = batch.T
        gap = scorer.scores(texts, question, wrong) + config.margin - scorer.scores(texts, question, right)
        return gap.clamp(min=0).sum()

    steps = -(-int(pool.label.sum()) // max(1, config.batch // config.negatives))
    yield from _train(training, scorer, epoch_batches, loss, config, held_out, steps)


def triples(
    pool: AnswerPool,
    anchors: IntArray,
    rng: np.random.Generator,
    config: PairwiseConfig,
    hardness: Callable[[IntArray, IntArray], FloatArray],
) -> NDArray[np.int64]:
    """Triples (N, 3) of question, right answer and wrong answer for right pairs, given by their rows.

    With `mix` sampling half of the negatives, rounded up, are those of `drawn` that the model scores highest. A
    question without wrong answers takes answers of other questions.
    """
    questions, right = pool.question[anchors], pool.answer[anchors]
    hard = {"random": 0, "hard": config.negatives, "mix": -(-config.negatives // 2)}[config.sampling]
    width = max(config.negatives, config.drawn if hard else 0)
    wrong = np.stack(
        [_wrong(pool, question, width, rng, config.elsewhere) for question in questions.tolist()]
    )  # (B, W)
    if hard:
        scores = hardness(np.repeat(questions, width), wrong.ravel()).reshape(wrong.shape)
        hardest = np.argsort(-scores, axis=1, kind="stable")[:, :hard]
        wrong = np.concatenate([np.take_along_axis(wrong, hardest, 1), wrong], axis=1)
    wrong = wrong[:, : config.negatives]
    repeated = [np.repeat(column, config.negatives) for column in (questions, right)]
    return np.stack([*repeated, wrong.ravel()], axis=1)


def mean_average_precision(scorer: Trainable, pool: AnswerPool, texts: Any = None) -> float:
    """MAP over the questions with right and wrong answers; equal scores are ranked by a hash."""
    texts = texts if texts is not None else scorer.read(pool.questions, pool.answers)
    scores = score_no_grad(scorer, texts, pool.question, pool.answer)
    return pool.measured(scores, ("AP",))["AP"].mean


def _train(
    training: Training,
    scorer: Trainable,
    epoch_batches: Callable[[int, np.random.Generator], Iterator[Any]],
    loss: Callable[[nn.Module, Any], Tensor],
    config: PointwiseConfig | PairwiseConfig,
    held_out: AnswerPool | None,
    steps: int,
) -> Iterator[Progress]:
    texts = scorer.read(held_out.questions, held_out.answers) if held_out is not None else None
    return train(
        training,
        epoch_batches,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: mean_average_precision(scorer, held_out, texts)) if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        report_every=50,
        steps_per_epoch=steps,
    )


def _wrong(
    pool: AnswerPool, question: int, count: int, rng: np.random.Generator, cross_question_share: float
) -> IntArray:
    """Wrong answers of a question, drawn with replacement, a share of them from other questions."""
    labelled = pool.wrong[question]
    others = count if not len(labelled) else int(rng.binomial(count, cross_question_share))
    chosen = rng.choice(labelled, count - others) if others < count else np.zeros(0, dtype=np.int64)
    strangers = rng.integers(len(pool.answers), size=others)
    right = pool.right[question]
    for _ in range(10):  # right answers are drawn again
        clash = np.isin(strangers, right)
        if not clash.any():
            break
        strangers[clash] = rng.integers(len(pool.answers), size=int(clash.sum()))
    sample: IntArray = np.concatenate([chosen, strangers[~np.isin(strangers, right)]])
    if len(sample) < count:  # nearly all answers are right
        rest = labelled if len(labelled) else np.setdiff1d(pool.answer, right)
        if not len(rest):
            raise ValueError(
                f"Expected a wrong answer to {pool.questions[question]!r}, but every answer is right; give others too."
            )
        sample = np.concatenate([sample, rng.choice(rest, count - len(sample))])
    return rng.permutation(sample)
