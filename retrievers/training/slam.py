"""SLAM: trains an encoder for dense search from question-answer pairs alone (Wang 2018, ch. 3), with two baselines.

    tower = StaticTower.of(folder, texts, StaticConfig())
    training = Training(tower.model, optimiser(tower, config), seed=1)
    for progress in train_slam(training, tower, examples, config, held_out=dev):
        print(progress)

The other answers of a batch are the negatives, so batches are large; cached gradients bound their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.losses import FILTER, MARGIN, SCALE, sampled_softmax, slam_softmax, triplet
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray, Side
from retrievers.training.cached_gradients import encoded
from retrievers.training.encoders.trainable_encoders import Tower, vectors
from retrievers.training.examples import Batch, Examples, batches, steps
from retrievers.training.negatives import by_keywords, by_vectors, trusted
from retrievers.training.search import Quality, quality

Scores = Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class SlamConfig:
    loss: Literal["slam", "softmax", "triplet"] = "slam"
    batch: int = 2000  # pairs
    scale: float = SCALE  # s, of slam and softmax
    margin: float = MARGIN  # m_a
    filter_margin: float = FILTER  # m_s
    negatives: int = 20  # of softmax, per question
    triplet_margin: float = 0.5  # δ
    triplet_negative: Literal["hardest", "one"] = "hardest"  # of the batch; one at random in Wang (2018)
    mined: Literal["none", "keywords", "encoder", "both"] = "none"  # source of hard negatives
    mined_depth: int = 20  # hard negatives of a question, at most
    hard: int = 1  # hard negatives per question in a batch
    epochs: int = 20
    patience: int = 3  # epochs without a better MRR on held-out questions
    learning_rate: float = 1e-3
    warm_up: float = 0.1  # share of all steps
    clip: float = 0.0  # maximum norm of all gradients together; 0 is off


def optimiser(tower: Tower, config: SlamConfig) -> torch.optim.Optimizer:
    """Adam over the trainable weights; the fused step saves a third of the time of small batches."""
    trained = (p for p in tower.model.parameters() if p.requires_grad)
    return torch.optim.Adam(trained, lr=config.learning_rate, fused=True)


def loss_of(config: SlamConfig) -> Scores:
    """The configured loss of scores (N, M) and a mask (N, M) of allowed negatives.

    Raises ValueError if there would be no negatives.
    """
    if config.batch < 2 and config.mined == "none":
        raise ValueError(f"Expected batches of two pairs or more, but got {config.batch}; raise `batch`.")
    if config.loss == "softmax" and config.negatives < 1:
        raise ValueError(f"Expected at least one negative per question, but got {config.negatives}; raise `negatives`.")
    match config.loss:
        case "slam":
            margins = {"margin": config.margin, "filter_margin": config.filter_margin}
            return lambda r, allowed: slam_softmax(r, allowed=allowed, scale=config.scale, **margins)
        case "softmax":
            return lambda r, allowed: sampled_softmax(
                r, allowed=allowed, negatives=config.negatives, scale=config.scale
            )
        case "triplet":
            return lambda r, allowed: triplet(
                r, allowed=allowed, margin=config.triplet_margin, negative=config.triplet_negative
            )


def train_slam(
    training: Training,
    tower: Tower,
    examples: Examples,
    config: SlamConfig,
    *,
    held_out: Examples | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train a tower; with held-out examples it ends with the weights of their best MRR.

    Only `training`, which holds the model of the tower, changes: a saved run is resumed with the same arguments. A
    batch is at most all of the data.
    """
    questions, answers = tower.rows(examples.questions, side="question"), tower.rows(examples.answers, side="answer")
    device = next(tower.model.parameters()).device
    score = loss_of(config)
    total = config.epochs * steps(examples, size=config.batch)

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterable[Batch]:
        return batches(examples, rng, size=config.batch, hard=config.hard if config.mined != "none" else 0)

    def side(model: nn.Module, rows: Sequence[IntArray], chosen: IntArray, name: Side) -> Tensor:
        return encoded(model, [rows[number] for number in chosen], side=name, tokens=tower.chunk)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        left, right = side(model, questions, batch.questions, "question"), side(model, answers, batch.answers, "answer")
        return score(left @ right.T, torch.from_numpy(batch.allowed).to(device))

    yield from train(
        training,
        epoch_batches,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: measured(tower, held_out).rr) if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        schedule=triangle(total, warm_up=config.warm_up),
        report_every=report_every,
        steps_per_epoch=steps(examples, size=config.batch),
    )


def measured(tower: Tower, examples: Examples) -> Quality:
    """Quality of exact search for the answers of each question among all answers of the examples."""
    return quality(*_sides(tower, examples), examples.right())


def with_hard_negatives(tower: Tower, examples: Examples, config: SlamConfig) -> Examples:
    """The examples with hard negatives as configured, mined with the current weights of the tower.

    Answers that the tower scores above a right answer of the question by the filter margin are left out.
    """
    if config.mined == "none":
        return examples
    sides = _sides(tower, examples)
    mined: list[list[int]] = [[] for _ in examples.questions]
    if config.mined != "encoder":
        mined = by_keywords(examples, config.mined_depth)
    if config.mined != "keywords":
        nearest = by_vectors(examples, *sides, config.mined_depth)
        mined = [[*old, *new] for old, new in zip(mined, nearest, strict=True)]
    return examples.with_negatives(trusted(examples, mined, *sides, margin=config.filter_margin))


def _sides(tower: Tower, examples: Examples) -> tuple[FloatArray, FloatArray]:
    """Vectors of all questions (Q, D) and of all answers (A, D)."""
    return vectors(tower, examples.questions, side="question"), vectors(tower, examples.answers, side="answer")
