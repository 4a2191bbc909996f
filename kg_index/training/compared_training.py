"""Trains a compared network of relation detection by a ranking loss over pools (Yu et al. 2017).

l = max(0, γ − s(q, r⁺) + s(q, r⁻)), the mean over the wrong relations r⁻ of the pool
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from kg_index.relations.compared.compared_scorer import ComparedScorer, words_of
from kg_index.relations.pools import PoolQuestion
from qa_core.training.loop import Progress, Training, train
from qa_core.types import IntArray


@dataclass(frozen=True, slots=True)
class ComparedTraining:
    """Settings, chosen to take minutes on one core; Yu et al. choose γ among .1, .3 and .5."""

    hidden: int = 150  # size per direction; convolutions have twice as many filters
    epochs: int = 10
    batch: int = 64  # questions
    learning_rate: float = 0.001  # of Adam
    margin: float = 0.5  # γ


def word_counts(questions: Sequence[PoolQuestion], relations: Sequence[str]) -> Counter[str]:
    """Frequencies of the words of the questions, and of the names of relations, one each."""
    counts = Counter(word for question in questions for word in question.template.split())
    counts.update(word for name in relations for word in words_of(name))
    return counts


def training_of(scorer: ComparedScorer, config: ComparedTraining, *, seed: int) -> Training:
    """The state of a run of `fit`, with Adam."""
    return Training(scorer.network, torch.optim.Adam(scorer.network.parameters(), lr=config.learning_rate), seed=seed)


def fit(
    training: Training,
    scorer: ComparedScorer,
    questions: Sequence[PoolQuestion],
    config: ComparedTraining,
    *,
    evaluate: Callable[[ComparedScorer], float] | None = None,
) -> Iterator[Progress]:
    """Train the scorer's network; with `evaluate` (higher is better), the best epoch is restored.

    Questions whose pool has one relation teach nothing and are left out. Raises ValueError if no other is there.
    """
    usable = [question for question in questions if len(question.pool) > 1]
    if not usable:
        raise ValueError("Expected questions with pools of several relations, but got none; give some.")

    def shuffled(_: int, rng: np.random.Generator) -> list[IntArray]:
        return np.array_split(rng.permutation(len(usable)), -(-len(usable) // config.batch))

    def loss(_: nn.Module, members: IntArray) -> Tensor:
        return batch_loss(scorer, [usable[member] for member in members], margin=config.margin)

    yield from train(
        training,
        shuffled,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: evaluate(scorer)) if evaluate else None,
        clip=5.0,
        report_every=20,
        steps_per_epoch=-(-len(usable) // config.batch),
    )
    scorer.network.eval()


def batch_loss(scorer: ComparedScorer, questions: Sequence[PoolQuestion], *, margin: float) -> Tensor:
    """The mean loss of some questions, each with a wrong relation in its pool."""
    logits, real = scorer.logits([q.template for q in questions], [q.pool for q in questions])  # (B, P)
    gold = torch.tensor([question.gold_index for question in questions]).unsqueeze(1)  # (B, 1)
    wrong = real.scatter(1, gold, value=False)
    lost = (margin - logits.gather(1, gold) + logits).clamp(min=0.0).masked_fill(~wrong, 0.0)
    return (lost.sum(1) / wrong.sum(1)).mean()
