"""Relation detection from what nobody annotated: mined templates labelled by a scorer, and the relations' own words.

    teacher = CosineScorer(encoder.encode)
    others = Siblings(table.relations, seed=1)
    examples = pseudo_labelled(teacher, list(mined_pools(table, others, rng=np.random.default_rng(1))))
    for progress in fit_head(RelationHead.of(encoder.encode, ()), examples, GENTLE, seed=1): ...

The thesis (ch. 4.3.5) re-weights a mapping by the likelihood of a first model, `F × (l + α)`. Here the first model is a
cosine of vectors, which needs no mined keywords, and its likelihoods share out each template among its relations.
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
    """A template, relations to choose from, and the weight F of each: 0 where it was not found."""

    template: str
    pool: tuple[str, ...]
    weights: tuple[float, ...]


GENTLE = HeadTraining(epochs=1, batch=256, learning_rate=3e-4)
"""Pseudo-labels are noisy: at the rate and length of annotated questions a head forgets what its encoder knew."""


class Siblings:
    """Relations that may stand beside one: those of its topic, the first of its words, and some of any."""

    def __init__(self, relations: Iterable[str], *, seed: int, any_topic: int = 6) -> None:
        self._all = sorted(name for name in relations if name != NO_PATH)
        self._rng = np.random.default_rng(seed)
        self._more = any_topic
        self._by_topic: dict[str, list[str]] = {}
        for name in self._all:
            self._by_topic.setdefault(_topic(name), []).append(name)

    def __call__(self, relation: str) -> list[str]:
        drawn = self._rng.permutation(len(self._all))[: self._more].tolist()
        return [*self._by_topic.get(_topic(relation), ()), *(self._all[place] for place in drawn)]


def mined_pools(
    table: TemplateTable, others: Callable[[str], Sequence[str]], *, rng: np.random.Generator, negatives: int = 8
) -> Iterator[MinedPool]:
    """Templates with a path, and beside their relations some that were not found.

    Args:
        others: relations that an entity with this one may have too; `negatives` of them are drawn.
    """
    weights = f_weights(table)
    for place in range(len(table)):
        own = slice(int(table.bounds[place]), int(table.bounds[place + 1]))
        found = {
            table.relations[which]: float(weight)
            for which, weight in zip(table.relation[own].tolist(), weights[own].tolist(), strict=True)
            if table.relations[which] != NO_PATH and weight > 0
        }
        beside = sorted({name for relation in found for name in others(relation)} - found.keys() - {NO_PATH})
        drawn = rng.permutation(len(beside))[:negatives].tolist()
        pool = (*found, *(beside[each] for each in drawn))
        if found and len(pool) > 1:
            yield MinedPool(table.template(place), pool, (*found.values(), *[0.0] * len(drawn)))


def pseudo_labelled(
    teacher: RelationScorer, mined: Sequence[MinedPool], *, temperature: float = 0.05, alpha: float = 0.1
) -> list[Labelled]:
    """Each template's relations by `F × (l + α)`, where `l` is the teacher's softmax over the pool.

    The root of the sum is the template's weight, so that what the teacher believes in and what was often found counts
    most, and yet a few templates do not outweigh all others.
    """
    scores = teacher.score([each.template for each in mined], [each.pool for each in mined])
    found = []
    for each, row in zip(mined, scores, strict=True):
        shares = np.array(each.weights) * (_softmax(row / temperature) + alpha)
        if (total := float(shares.sum())) > 0:
            found.append(Labelled(each.template, each.pool, tuple((shares / total).tolist()), math.sqrt(total)))
    return found


def _topic(relation: str) -> str:
    return PredicateWords()(relation).partition(" ")[0]


def _softmax(row: FloatArray) -> FloatArray:
    exponents = np.exp(row - row.max())
    shares: FloatArray = exponents / exponents.sum()
    return shares
