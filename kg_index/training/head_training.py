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
    """A template, its pool, how likely each relation of it is the right one, and how much that counts."""

    template: str
    pool: tuple[str, ...]
    target: tuple[float, ...]  # sums to 1
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class HeadTraining:
    epochs: int = 10
    batch: int = 128
    learning_rate: float = 0.001  # at first; it falls to 0 in equal steps


def labelled(questions: Iterable[PoolQuestion]) -> list[Labelled]:
    """Annotated questions."""
    return [
        Labelled(each.template, each.pool, tuple(float(name == each.gold) for name in each.pool)) for each in questions
    ]


def training_of(head: RelationHead, config: HeadTraining, *, seed: int) -> Training:
    """With Adam, for `fit_head`; what a saved run goes on with."""
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
    """Train by cross-entropy to the targets, over each pool. The encoder stays as it is.

    Args:
        training: one that was begun; its seed counts then.
        evaluate: the higher the better; the epoch of the best one stays.

    Raises ValueError for no examples, and for a target that is no distribution over its pool.
    """
    setting = config or HeadTraining()
    _check(examples)
    data = head.read([each.template for each in examples], [each.pool for each in examples])
    targets = [torch.tensor(each.target) for each in examples]
    weights = torch.tensor([each.weight for each in examples])
    weights = weights / weights.mean()

    def loss(_: nn.Module, members: IntArray) -> Tensor:
        target = nn.utils.rnn.pad_sequence([targets[each] for each in members.tolist()], batch_first=True)  # (B, P)
        likelihoods = torch.log_softmax(head.logits(data, members), dim=1).clamp(min=-100)  # 0 · −∞ is no number
        return -(weights[torch.from_numpy(members)] * (target * likelihoods).sum(1)).mean()

    def batches(_: int, rng: np.random.Generator) -> list[IntArray]:
        return np.array_split(rng.permutation(len(examples)), max(1, len(examples) // setting.batch))

    def evaluated(_: nn.Module) -> float:
        assert evaluate is not None, "there is something to evaluate by"
        head.network.eval()
        found = evaluate(head)
        head.network.train()
        return found

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
    for number, each in enumerate(examples, 1):
        if len(each.target) != len(each.pool) or not abs(sum(each.target) - 1) < 1e-3 or min(each.target) < 0:
            raise ValueError(
                f"Expected likelihoods of {len(each.pool)} relations that sum to 1 in example {number}, but got "
                f"{each.target[:8]} for {each.template[:80]!r}."
            )
