"""Sets of questions with labelled pairs, similar or different, and the transitive closure of the similar ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray


class Labelled(NamedTuple):
    """Two questions, and the label that they ask the same."""

    first: str
    second: str
    similar: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSet:
    """Distinct questions by number, up to case and white space, and the labelled pairs."""

    texts: tuple[str, ...]  # N
    similar: IntArray  # (P, 2), distinct, never a question with itself
    different: IntArray  # (Q, 2), never within a component of the similar pairs

    @classmethod
    def of(cls, pairs: Iterable[Labelled], others: Iterable[str] = ()) -> Self:
        """Questions of the pairs and `others`; a pair of a question with itself only adds the question.

        If labels contradict each other, directly or by the closure, the similar ones win.
        """
        numbers: dict[str, int] = {}
        texts: list[str] = []

        def number(text: str) -> int:
            row = numbers.setdefault(folded(text), len(texts))
            if row == len(texts):
                texts.append(text)
            return row

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
        """Number of similar pairs."""
        return len(self.similar)

    def closure(self) -> IntArray:
        """The component (N,) of each question in the graph of similar pairs, named by its least member."""
        return components(len(self.texts), self.similar)

    def split(self, share: float, *, salt: str) -> tuple[Self, Self]:
        """The questions without about `share` of them, and that held-out share; labelled pairs stay together.

        A hash of the salt and of the least question of a component decides, the same on every machine and for every
        order.
        """
        component = components(len(self.texts), np.concatenate([self.similar, self.different]))
        least: dict[int, str] = {}
        for node, text in zip(component.tolist(), map(folded, self.texts), strict=True):
            least[node] = min(least.get(node, text), text)
        held_out = {node for node, text in least.items() if _hash(salt, text) < share * 2**64}
        mask = np.array([node in held_out for node in component.tolist()], dtype=np.bool_)  # (N,)
        return self._subset(~mask), self._subset(mask)

    def _subset(self, mask: NDArray[np.bool_]) -> Self:
        new_rows = np.cumsum(mask) - 1
        texts = tuple(text for text, chosen in zip(self.texts, mask, strict=True) if chosen)
        pairs = [new_rows[edges[mask[edges].all(axis=1)]] for edges in (self.similar, self.different)]
        return type(self)(texts, *pairs)


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
    """The nodes of each component that has two or more."""
    components: dict[int, list[int]] = {}
    for node, least in enumerate(component.tolist()):
        components.setdefault(least, []).append(node)
    return {least: nodes for least, nodes in components.items() if len(nodes) > 1}


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _edges(pairs: Iterable[tuple[int, int]]) -> IntArray:
    return np.array([*pairs], dtype=np.int64).reshape(-1, 2)


def _hash(salt: str, text: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{salt}\0{text}".encode(), digest_size=8).digest(), "big")


def texts_of(sets: Iterable[QuestionSet]) -> Sequence[str]:
    """All questions of several sets."""
    return [text for questions in sets for text in questions.texts]
