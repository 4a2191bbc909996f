"""Predicate paths of one or two steps between two entities, along triples or against them (Wang (2018), ch. 4.3.4)."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from kg_index.triples.ranges import Groups
from qa_core.types import IntArray

HUB = 10_000  # between two entities with more triples than this, paths of two steps are not searched
_FEW = 24  # with fewer middle entities than this, single lookups are faster than a batch


class Step(NamedTuple):
    """A predicate, followed from subject to object, or from object to subject where `inverse`."""

    predicate: int
    inverse: bool


Path = tuple[Step, ...]


class Graph(Protocol):
    def predicates(self, s: int, o: int) -> IntArray: ...
    def predicates_many(self, s: IntArray, o: IntArray) -> Groups: ...
    def neighbours(self, entity: int) -> IntArray: ...
    def degree(self, entity: int) -> int: ...
    def is_literal(self, number: int) -> bool: ...


def paths_between(graph: Graph, a: int, b: int, *, longest: int = 2, hub: int = HUB) -> list[Path]:
    """All distinct paths of at most `longest` steps (1 or 2) from a to b, shortest first, then by ids.

    A path visits no entity twice and does not pass through literals: two entities with the same name or number are not
    related by it. The work is bounded by the entity with fewer triples; if it has more than `hub`, only paths of one
    step are returned.
    """
    if longest not in (1, 2):
        raise ValueError(f"Expected paths of at most 1 or 2 steps, but got {longest}.")
    if a == b:
        return []
    direct: list[Path] = [(step,) for step in _steps(graph, a, b)]
    if longest == 1 or min(graph.degree(a), graph.degree(b)) > hub:
        return direct
    middles = _middles(graph, a, b, hub)
    from_a, from_b = _steps_to(graph, a, middles), _steps_to(graph, b, middles)
    pairs = {(first, last) for one, two in zip(from_a, from_b, strict=True) for first, last in product(one, two)}
    return direct + sorted((first, Step(last.predicate, not last.inverse)) for first, last in pairs)


def _steps(graph: Graph, a: int, b: int) -> list[Step]:
    forward, backward = graph.predicates(a, b).tolist(), graph.predicates(b, a).tolist()
    return sorted([Step(p, False) for p in forward] + [Step(p, True) for p in backward])


def _steps_to(graph: Graph, entity: int, others: list[int]) -> list[list[Step]]:
    """The steps from the entity to each of the others."""
    if len(others) < _FEW:
        return [_steps(graph, entity, other) for other in others]
    many = np.array(others, np.int64)
    same = np.full(len(others), entity, np.int64)
    steps: list[list[Step]] = [[] for _ in others]
    for groups, inverse in ((graph.predicates_many(same, many), False), (graph.predicates_many(many, same), True)):
        owners = np.repeat(np.arange(len(others)), np.diff(groups.bounds))
        for owner, predicate in zip(owners.tolist(), groups.values.tolist(), strict=True):
            steps[owner].append(Step(predicate, inverse))
    return steps


def _middles(graph: Graph, a: int, b: int, hub: int) -> list[int]:
    """Entities with a triple to both."""
    small, large = sorted((a, b), key=graph.degree)
    if graph.degree(large) <= hub:
        common = set(graph.neighbours(small).tolist()) & set(graph.neighbours(large).tolist())
    else:
        around = graph.neighbours(small)
        other = np.full(len(around), large, np.int64)
        linked = _counts(graph.predicates_many(around, other)) + _counts(graph.predicates_many(other, around))
        common = set(around[linked > 0].tolist())
    return sorted(middle for middle in common - {a, b} if not graph.is_literal(middle))


def _counts(groups: Groups) -> IntArray:
    counts: IntArray = np.diff(groups.bounds)
    return counts
