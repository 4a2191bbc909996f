"""Questions of which some are told to ask the same, and what follows: the transitive closure of those pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray


class Labelled(NamedTuple):
    """Two questions, and whether somebody found that they ask the same."""

    first: str
    second: str
    similar: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSet:
    """Distinct questions by number, case and white space aside, and the pairs that were labelled."""

    texts: tuple[str, ...]  # N
    similar: IntArray  # (P, 2), none twice, none of a question with itself
    different: IntArray  # (Q, 2), none of one component of the similar ones

    @classmethod
    def of(cls, pairs: Iterable[Labelled], others: Iterable[str] = ()) -> Self:
        """A pair of a question with itself only brings its question, as `others` do.

        Where labels contradict each other, by the closure or outright, the similar ones are believed.
        """
        numbers: dict[str, int] = {}
        texts: list[str] = []

        def number(text: str) -> int:
            place = numbers.setdefault(folded(text), len(texts))
            if place == len(texts):
                texts.append(text)
            return place

        edges: dict[bool, dict[tuple[int, int], None]] = {True: {}, False: {}}
        for pair in pairs:
            a, b = sorted((number(pair.first), number(pair.second)))
            if a != b:
                edges[pair.similar][a, b] = None
        for text in others:
            number(text)
        similar, different = (_edges(edges[label]) for label in (True, False))
        component = components(len(texts), similar)
        apart = component[different[:, 0]] != component[different[:, 1]]
        return cls(tuple(texts), similar, different[apart])

    def __len__(self) -> int:
        """Similar pairs."""
        return len(self.similar)

    def closure(self) -> IntArray:
        """The component (N,) of each question in the graph of the similar pairs: its least member."""
        return components(len(self.texts), self.similar)

    def parted(self, share: float, *, salt: str) -> tuple[Self, Self]:
        """What stays, and about `share` of the questions held out, so that no labelled pair of either kind is torn.

        A hash of the least question of a component decides, alike on every machine and for every order; another
        salt draws another part.
        """
        component = components(len(self.texts), np.concatenate([self.similar, self.different]))
        least: dict[int, str] = {}
        for place, text in zip(component.tolist(), map(folded, self.texts), strict=True):
            least[place] = min(least.get(place, text), text)
        out = {place for place, text in least.items() if _hash(salt, text) < share * 2**64}
        held = np.array([place in out for place in component.tolist()], dtype=np.bool_)  # (N,)
        return self._only(~held), self._only(held)

    def _only(self, chosen: NDArray[np.bool_]) -> Self:
        places = np.cumsum(chosen) - 1
        texts = tuple(text for text, wanted in zip(self.texts, chosen, strict=True) if wanted)
        kept = [places[edges[chosen[edges].all(axis=1)]] for edges in (self.similar, self.different)]
        return type(self)(texts, *kept)


def components(count: int, edges: IntArray) -> IntArray:
    """The least member (N,) of each node's connected component; edges (E, 2)."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in edges.tolist():
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    return np.array([root(node) for node in range(count)], dtype=np.int64)


def members(component: IntArray) -> dict[int, list[int]]:
    """The nodes of each component of two or more."""
    found: dict[int, list[int]] = {}
    for node, least in enumerate(component.tolist()):
        found.setdefault(least, []).append(node)
    return {least: nodes for least, nodes in found.items() if len(nodes) > 1}


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _edges(found: Iterable[tuple[int, int]]) -> IntArray:
    return np.array([*found], dtype=np.int64).reshape(-1, 2)


def _hash(salt: str, text: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{salt}\0{text}".encode(), digest_size=8).digest(), "big")


def texts_of(sets: Iterable[QuestionSet]) -> Sequence[str]:
    """All questions of several sets."""
    return [text for each in sets for text in each.texts]
