"""Pseudo-labels for relation heads: mined templates whose relations are labelled by another scorer.

    teacher = CosineScorer(encoder.encode)
    others = Siblings(table.relations, seed=1)
    examples = pseudo_labelled(teacher, list(mined_pools(table, others, rng=np.random.default_rng(1))))
    for progress in fit_head(RelationHead.of(encoder.encode, ()), examples, GENTLE, seed=1): ...

Wang (2018), ch. 4.3.5, weights a mapping by the likelihood of a first model, `F × (l + α)`. Here the first model is a
cosine of vectors, and its likelihoods distribute each template over its relations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kg_index.relations.keywords import PredicateWords
from kg_index.relations.relation_scorers import RelationScorer
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.head_training import HeadTraining, Labelled
from kg_index.training.mapping_weights import f_weights
from qa_core.types import FloatArray


@dataclass(frozen=True, slots=True)
class MinedPool:
    """A template, relations to choose from, and the weight F of each, 0 for those that were not mined."""

    template: str
    pool: tuple[str, ...]
    weights: tuple[float, ...]


GENTLE = HeadTraining(epochs=1, batch=256, learning_rate=3e-4)
"""Pseudo-labels are noisy: with the settings for annotated questions a head forgets what its encoder knows."""


class Siblings:
    """Negative relations for a relation: those of its topic, its first word, and some random ones."""

    def __init__(self, relations: Iterable[str], *, seed: int, any_topic: int = 6) -> None:
        self._all = sorted(name for name in relations if name != NO_PATH)
        self._rng = np.random.default_rng(seed)
        self._more = any_topic
        self._by_topic: dict[str, list[str]] = {}
        for name in self._all:
            self._by_topic.setdefault(_topic(name), []).append(name)

    def __call__(self, relation: str) -> list[str]:
        drawn = self._rng.permutation(len(self._all))[: self._more].tolist()
        return [*self._by_topic.get(_topic(relation), ()), *(self._all[i] for i in drawn)]


def mined_pools(
    table: TemplateTable, others: Callable[[str], Sequence[str]], *, rng: np.random.Generator, negatives: int = 8
) -> Iterator[MinedPool]:
    """Templates with a path, each with its relations and some negative ones.

    Args:
        others: negative relations for a relation; `negatives` of them are drawn.
    """
    weights = f_weights(table)
    for i in range(len(table)):
        mappings = slice(int(table.bounds[i]), int(table.bounds[i + 1]))
        mined = {
            table.relations[which]: float(weight)
            for which, weight in zip(table.relation[mappings].tolist(), weights[mappings].tolist(), strict=True)
            if table.relations[which] != NO_PATH and weight > 0
        }
        unmined = sorted({name for relation in mined for name in others(relation)} - mined.keys() - {NO_PATH})
        drawn = rng.permutation(len(unmined))[:negatives].tolist()
        pool = (*mined, *(unmined[number] for number in drawn))
        if mined and len(pool) > 1:
            yield MinedPool(table.template(i), pool, (*mined.values(), *[0.0] * len(drawn)))


def pseudo_labelled(
    teacher: RelationScorer, mined: Sequence[MinedPool], *, temperature: float = 0.05, alpha: float = 0.1
) -> list[Labelled]:
    """Label each template's relations by `F × (l + α)`, where `l` is the teacher's softmax over the pool.

    The weight of a template is the square root of the sum: frequent templates that the teacher confirms count most,
    but do not dominate.
    """
    scores = teacher.score([pool.template for pool in mined], [pool.pool for pool in mined])
    examples = []
    for pool, row in zip(mined, scores, strict=True):
        shares = np.array(pool.weights) * (_softmax(row / temperature) + alpha)
        if (total := float(shares.sum())) > 0:
            examples.append(Labelled(pool.template, pool.pool, tuple((shares / total).tolist()), math.sqrt(total)))
    return examples


def _topic(relation: str) -> str:
    return PredicateWords()(relation).partition(" ")[0]


def _softmax(row: FloatArray) -> FloatArray:
    exponents = np.exp(row - row.max())
    shares: FloatArray = exponents / exponents.sum()
    return shares
