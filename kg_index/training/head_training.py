"""Trains a relation head by cross-entropy over pools: annotated, or labelled by another scorer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_head import RelationHead
from qa_core.training.loop import Progress, Training, seed_everything, train
from qa_core.types import IntArray


@dataclass(frozen=True, slots=True)
class Labelled:
    """A template, its pool, the probability of each relation to be right, and the weight of the example."""

    template: str
    pool: tuple[str, ...]
    target: tuple[float, ...]  # sums to 1
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class HeadTraining:
    epochs: int = 10
    batch: int = 128
    learning_rate: float = 0.001  # decays linearly to 0


def labelled(questions: Iterable[PoolQuestion]) -> list[Labelled]:
    """Examples of annotated questions."""
    return [
        Labelled(question.template, question.pool, tuple(float(name == question.gold) for name in question.pool))
        for question in questions
    ]


def training_of(head: RelationHead, config: HeadTraining, *, seed: int) -> Training:
    """The state of a run of `fit_head`, with Adam."""
    return Training(head.network, torch.optim.Adam(head.network.parameters(), lr=config.learning_rate), seed=seed)


def fit_head(
    head: RelationHead,
    examples: Sequence[Labelled],
    config: HeadTraining | None = None,
    *,
    seed: int,
    training: Training | None = None,
    evaluate: Callable[[RelationHead], float] | None = None,
) -> Iterator[Progress]:
    """Train by cross-entropy over each pool; the encoder is frozen.

    Args:
        training: the state of a resumed run, whose seed is used.
        evaluate: higher is better; the weights of the best epoch are restored.

    Raises ValueError for no examples, and for a target that is not a distribution over its pool.
    """
    setting = config or HeadTraining()
    _check(examples)
    data = head.read([example.template for example in examples], [example.pool for example in examples])
    targets = [torch.tensor(example.target) for example in examples]
    weights = torch.tensor([example.weight for example in examples])
    weights = weights / weights.mean()

    def loss(_: nn.Module, members: IntArray) -> Tensor:
        target = nn.utils.rnn.pad_sequence([targets[i] for i in members.tolist()], batch_first=True)  # (B, P)
        likelihoods = torch.log_softmax(head.logits(data, members), dim=1).clamp(min=-100)  # 0 · −∞ would be NaN
        return -(weights[torch.from_numpy(members)] * (target * likelihoods).sum(1)).mean()

    def batches(_: int, rng: np.random.Generator) -> list[IntArray]:
        return np.array_split(rng.permutation(len(examples)), max(1, len(examples) // setting.batch))

    def evaluated(_: nn.Module) -> float:
        assert evaluate is not None
        head.network.eval()
        value = evaluate(head)
        head.network.train()
        return value

    if training is None:
        seed_everything(seed)
        training = training_of(head, setting, seed=seed)
    steps = max(1, len(examples) // setting.batch)
    yield from train(
        training,
        batches,
        loss,
        epochs=setting.epochs,
        evaluate=evaluated if evaluate else None,
        schedule=lambda step: max(1 - step / (setting.epochs * steps), 0.0),
        steps_per_epoch=steps,
    )
    head.network.eval()


def _check(examples: Sequence[Labelled]) -> None:
    if not examples:
        raise ValueError("Expected labelled templates, but got none; give some, or leave the head as it is.")
    for number, example in enumerate(examples, 1):
        if (
            len(example.target) != len(example.pool)
            or not abs(sum(example.target) - 1) < 1e-3
            or min(example.target) < 0
        ):
            raise ValueError(
                f"Expected likelihoods of {len(example.pool)} relations that sum to 1 in example {number}, but got "
                f"{example.target[:8]} for {example.template[:80]!r}."
            )
