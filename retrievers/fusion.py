"""Fusion of several ranked lists into one: pure functions.

Raw scores of different engines are never added. A list contains a document once. Equal fused scores are ordered by a
hash of the key, so the result depends neither on the order of the lists nor on the age of a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.types import IntArray

RANK_CONSTANT = 60  # as in the paper; top ranks count more, but no single list decides alone


class ScoredDocuments(NamedTuple):
    """Keys of documents and their scores, best first."""

    documents: IntArray  # (N,)
    scores: NDArray[np.float64]  # (N,)

    @classmethod
    def of(cls, documents: ArrayLike = (), scores: ArrayLike = ()) -> Self:
        return cls(np.asarray(documents, np.int64), np.asarray(scores, np.float64))

    @property
    def empty(self) -> bool:
        return not len(self.documents)

    def first(self, count: int) -> ScoredDocuments:
        return self if len(self.documents) <= count else ScoredDocuments(self.documents[:count], self.scores[:count])

    def pairs(self) -> Iterable[tuple[int, float]]:
        return zip(self.documents.tolist(), self.scores.tolist(), strict=True)


def reciprocal_rank(
    lists: Sequence[ScoredDocuments], *, weights: Sequence[float] | None = None, k: int = RANK_CONSTANT
) -> ScoredDocuments:
    """score(d) = Σ_l w_l / (k + rank_l(d)), ranks from 1, over the lists that hold d (Cormack et al. 2009, eq. 1)."""
    ranks = [np.arange(1, len(ranked.documents) + 1) for ranked in lists]
    terms = [weight / (k + rank) for weight, rank in zip(_weights(lists, weights), ranks, strict=True)]
    return _summed(lists, terms)


def normalised_mean(
    lists: Sequence[ScoredDocuments],
    *,
    weights: Sequence[float] | None = None,
    floors: Sequence[float | None] | None = None,
) -> ScoredDocuments:
    """score(d) = Σ_l w_l s'_l(d) / Σ_l w_l with s' = (s − min) / (max − min) within a list (Lee 1997, §3).

    A document that is not in a list counts 0 there; equal scores throughout a list count 1 each.

    Args:
        floors: the minimum to use for each list, or None for its lowest score. For a list that is complete, give the
            score of an absent document; otherwise its last document would count like an absent one.
    """
    list_weights = _weights(lists, weights)
    total = sum(list_weights)
    normalised = map(_normalised, lists, floors or [None] * len(lists))
    return _summed(lists, [weight * s / total for weight, s in zip(list_weights, normalised, strict=True)])


def in_vocabulary_rule(
    dense: ScoredDocuments, keyword: ScoredDocuments, k: int, *, in_vocabulary: bool
) -> ScoredDocuments:
    """The hybrid rule of example-driven question answering (Wang 2018, ch. 3).

    If every word of the query is in the encoder's vocabulary, the first k/2 documents (rounded up) come from the dense
    list and the others from the keyword list; otherwise all come from the keyword list. The scores of the two engines
    are not comparable, so score = 1 / rank in the new list.
    """
    head = dense.documents[: (k + 1) // 2 if in_vocabulary else 0]
    tail = keyword.documents[~np.isin(keyword.documents, head)]
    documents = np.concatenate([head, tail])[:k]
    return ScoredDocuments(documents, 1 / np.arange(1, len(documents) + 1))


def best_first(documents: IntArray, scores: NDArray[np.float64]) -> ScoredDocuments:
    """Highest score first, equal ones by a hash of the key."""
    order = np.lexsort((stable_hash(documents), -scores))
    return ScoredDocuments(documents[order], scores[order])


def stable_hash(numbers: IntArray) -> NDArray[np.uint64]:
    """A 64-bit hash of integers, the same in every process and on every machine (Steele et al. 2014)."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _summed(lists: Sequence[ScoredDocuments], terms: Sequence[NDArray[np.float64]]) -> ScoredDocuments:
    """Each document with the sum of its terms over the lists."""
    if not lists:
        return ScoredDocuments.of()
    documents, rows = np.unique(np.concatenate([ranked.documents for ranked in lists]), return_inverse=True)
    sums = np.bincount(rows, np.concatenate(terms), minlength=len(documents))
    return best_first(documents, sums.astype(np.float64))  # bincount of an empty array gives integers


def _normalised(ranked: ScoredDocuments, floor: float | None) -> NDArray[np.float64]:
    """Scores scaled so that the floor, or else the last score, is 0 and the first is 1."""
    if ranked.empty:
        return ranked.scores
    low = ranked.scores[-1] if floor is None else floor
    width = ranked.scores[0] - low
    return (ranked.scores - low) / width if width > 0 else np.ones_like(ranked.scores)


def _weights(lists: Sequence[ScoredDocuments], weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * len(lists)
    if len(weights) != len(lists) or any(weight < 0 for weight in weights) or sum(weights) <= 0:
        raise ValueError(
            f"Expected {len(lists)} weights, none below 0 and not all 0, but got {list(weights)}; give one a list."
        )
    return weights
