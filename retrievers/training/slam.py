"""A dense indexer trained from question-answer pairs alone (thesis, ch. 3), with any encoder and either baseline.

    tower = StaticTower.of(folder, texts, StaticConfig())
    training = Training(tower.model, optimiser(tower, config), seed=1)
    for progress in train_slam(training, tower, examples, config, held_out=dev):
        print(progress)

Every other answer of a batch is a negative, so that the batch has to be large; cached gradients bound its memory.
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
from qa_core.types import IntArray, Side
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
    negatives: int = 20  # of softmax, for each question
    triplet_margin: float = 0.5  # δ
    mined: Literal["none", "keywords", "encoder", "both"] = "none"  # hard negatives beside those of the batch
    mined_depth: int = 20  # how many a question has at most
    hard: int = 1  # of them in a batch, for each question
    epochs: int = 20
    patience: int = 3  # epochs without a better MRR on held-out questions
    learning_rate: float = 1e-3
    warm_up: float = 0.1  # share of all steps
    clip: float = 0.0  # largest norm of all gradients together; 0 is off


def optimiser(tower: Tower, config: SlamConfig) -> torch.optim.Optimizer:
    """Adam over what can be trained, in one pass: step by step it takes a third of the time of small batches."""
    trained = (p for p in tower.model.parameters() if p.requires_grad)
    return torch.optim.Adam(trained, lr=config.learning_rate, fused=True)


def loss_of(config: SlamConfig) -> Scores:
    """The configured loss of scores (N, M) and what may serve as a negative; without negatives it is a ValueError."""
    if config.batch < 2 and config.mined == "none":
        raise ValueError(f"Expected batches of two pairs or more, but got {config.batch}; raise `batch`.")
    if config.loss == "softmax" and config.negatives < 1:
        raise ValueError(
            f"Expected a negative or more for each question, but got {config.negatives}; raise `negatives`."
        )
    match config.loss:
        case "slam":
            margins = {"margin": config.margin, "filter_margin": config.filter_margin}
            return lambda r, kept: slam_softmax(r, kept=kept, scale=config.scale, **margins)
        case "softmax":
            return lambda r, kept: sampled_softmax(r, kept=kept, negatives=config.negatives, scale=config.scale)
        case "triplet":
            return lambda r, kept: triplet(r, kept=kept, margin=config.triplet_margin)


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

    `training` holds the tower's model, and is the only thing that changes: a saved run goes on with the same
    arguments. A batch larger than the data is all of the data.
    """
    questions, answers = tower.rows(examples.questions, side="question"), tower.rows(examples.answers, side="answer")
    device = next(tower.model.parameters()).device
    score = loss_of(config)
    total = config.epochs * steps(examples, size=config.batch)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterable[Batch]:
        return batches(examples, rng, size=config.batch, hard=config.hard if config.mined != "none" else 0)

    def side(model: nn.Module, rows: Sequence[IntArray], chosen: IntArray, name: Side) -> Tensor:
        return encoded(model, [rows[number] for number in chosen], side=name, tokens=tower.chunk)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        left, right = side(model, questions, batch.questions, "question"), side(model, answers, batch.answers, "answer")
        return score(left @ right.T, torch.from_numpy(batch.kept).to(device))

    yield from train(
        training,
        drawn,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: measured(tower, held_out).rr) if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        schedule=triangle(total, warm_up=config.warm_up),
        report_every=report_every,
        steps_per_epoch=steps(examples, size=config.batch),
        size=len,
    )


def measured(tower: Tower, examples: Examples) -> Quality:
    """How well each question finds its answers among all answers of the examples, by exact search."""
    found = vectors(tower, examples.questions, side="question"), vectors(tower, examples.answers, side="answer")
    return quality(*found, examples.right())


def with_hard_negatives(tower: Tower, examples: Examples, config: SlamConfig) -> Examples:
    """The examples with mined negatives as the configuration wants them, of the tower's present weights.

    What the present weights score above a question's own answer, by the filter's margin, is left out.
    """
    if config.mined == "none":
        return examples
    found = vectors(tower, examples.questions, side="question"), vectors(tower, examples.answers, side="answer")
    mined: list[list[int]] = [[] for _ in examples.questions]
    if config.mined != "encoder":
        mined = by_keywords(examples, config.mined_depth)
    if config.mined != "keywords":
        nearest = by_vectors(examples, *found, config.mined_depth)
        mined = [[*old, *new] for old, new in zip(mined, nearest, strict=True)]
    return examples.with_negatives(trusted(examples, mined, *found, margin=config.filter_margin))
