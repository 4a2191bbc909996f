"""Distillation: trains a small pair scorer on the scores of a large one, without labels.

scores = teacher.score(pool.pairs())
for progress in train_distilled(training, student, pool, scores, DistilConfig(), held_out=dev):
    print(progress)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from rankers.trainable import Trainable
from rankers.training.answer_pool import AnswerPool
from rankers.training.pair_training import mean_average_precision


@dataclass(frozen=True, slots=True)
class DistilConfig:
    loss: Literal["mse", "margin"] = "margin"
    batch: int = 64  # pairs; with `margin`, pairs of two answers to a question
    epochs: int = 10
    patience: int = 3  # epochs without a better MAP on development data
    clip: float = 5.0  # maximum norm of all gradients together; 0 is off
    labelled: float = 0.0  # share of the loss that is cross-entropy against the labels


def train_distilled(
    training: Training,
    student: Trainable,
    pool: AnswerPool,
    teacher: FloatArray,
    config: DistilConfig,
    *,
    held_out: AnswerPool | None = None,
    report_every: int = 50,
) -> Iterator[Progress]:
    """Train by the squared error of scores, `(s − t)²`, or of differences, `((s_a − s_b) − (t_a − t_b))²`.

    Differences are between two answers to one question (margin-MSE, Hofstätter et al. 2020), so the student may learn
    shifted scores. With held-out pairs it ends with the best MAP.

    Args:
        teacher: scores (N,) of the pairs of the pool, in order.

    Raises:
        ValueError: the scores belong to another pool or are not finite; differences, but no question with two
            answers; `labelled` is not between 0 and 1.
    """
    _check(pool, teacher, config)
    texts = student.read(pool.questions, pool.answers)
    held_texts = student.read(held_out.questions, held_out.answers) if held_out is not None else None
    targets, labels = torch.from_numpy(teacher.astype(np.float32)), torch.from_numpy(pool.label)
    size = len(pool) if config.loss == "mse" else len(pair_answers(pool, np.random.default_rng(0)))

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterator[IntArray]:
        rows = np.arange(len(pool))[:, None] if config.loss == "mse" else pair_answers(pool, rng)  # (N, 1) or (N, 2)
        order = rng.permutation(len(rows))
        return (rows[order[start : start + config.batch]] for start in range(0, len(order), config.batch))

    def loss(model: nn.Module, rows: IntArray) -> Tensor:  # noqa: ARG001 the scorer holds it
        pairs = rows.ravel()
        scores = student.scores(texts, pool.question[pairs], pool.answer[pairs])
        target = targets[pairs].to(scores.device)
        error = functional.mse_loss(_compared(scores, rows), _compared(target, rows))
        if not config.labelled:
            return error
        labelled = pairwise_cross_entropy(scores, labels[pairs].to(scores.device))
        return (1 - config.labelled) * error + config.labelled * labelled

    yield from train(
        training,
        epoch_batches,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: mean_average_precision(student, held_out, held_texts)) if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        report_every=report_every,
        steps_per_epoch=-(-size // config.batch),
    )


def pair_answers(pool: AnswerPool, rng: np.random.Generator) -> IntArray:
    """Rows (M, 2) of pairs: each pair with a random other pair of its question; a single answer is left out."""
    order = rng.permutation(len(pool))
    order = order[np.argsort(pool.question[order], kind="stable")]
    question = pool.question[order]
    starts = np.searchsorted(question, question)
    counts = np.searchsorted(question, question, side="right") - starts
    nth = np.arange(len(order)) - starts
    partner = order[starts + (nth + 1) % counts]  # the next answer of the question, in random order
    return np.stack([order, partner], axis=1)[counts > 1]


def _compared(scores: Tensor, rows: IntArray) -> Tensor:
    columns = scores.view(rows.shape)
    return columns[:, 0] - columns[:, 1] if rows.shape[1] == 2 else columns[:, 0]


def _check(pool: AnswerPool, teacher: FloatArray, config: DistilConfig) -> None:
    if teacher.shape != (len(pool),) or not np.isfinite(teacher).all():
        raise ValueError(
            f"Expected a finite score for each of {len(pool)} pairs, but got shape {teacher.shape} with "
            f"{int((~np.isfinite(teacher)).sum())} that are not finite; score the pairs of this pool."
        )
    if config.loss == "margin" and not len(pair_answers(pool, np.random.default_rng(0))):
        raise ValueError("Expected questions with two answers or more, but got none; set loss = 'mse'.")
    if not 0 <= config.labelled <= 1:
        raise ValueError(f"Expected a share from 0 to 1, but got labelled = {config.labelled}; correct it.")
