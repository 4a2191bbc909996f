"""Training pairs for a bi-encoder, labelled by a cross-encoder (Chiu and Shinzato 2022).

A known cross-encoder judges the answers that a known bi-encoder retrieves for new queries. For unlabelled queries, the
pairs that it accepts are the positive pairs of the new bi-encoder; for labelled queries, those that people accept too.
All functions are pure; encoders and classifiers are arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.training.examples import Examples
from retrievers.training.questions import components

Search = Callable[[Sequence[str], int], tuple[FloatArray, IntArray]]
"""Scores (Q, k) and answers (Q, k) that a bi-encoder retrieves for texts, best first; a missing answer is −1."""
Score = Callable[[Sequence[tuple[str, str]]], FloatArray]
"""Probabilities (N,) that question and answer match."""

THRESHOLD = 0.5
RANGES = 5


class Retrieved(NamedTuple):
    """An answer that the known bi-encoder retrieved for a query, both by number."""

    query: int
    answer: int
    rank: int  # from 1
    closeness: float  # inner product of unit vectors


class Label(NamedTuple):
    """The labels of a pair by people and by the cross-encoder."""

    retrieved: Retrieved
    human: bool | None  # None if the query is unlabelled
    probability: float


# --- query sets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries by number, ordered by a hash, so that the first ones are a random sample."""

    train: tuple[int, ...]
    dev: tuple[int, ...]

    def first(self, limit: int) -> QuerySet:
        """At most `limit` training queries, and development queries in proportion."""
        share = min(1.0, limit / max(1, len(self.train)))
        return QuerySet(self.train[:limit], self.dev[: round(share * len(self.dev))])

    def numbered(self, numbers: Sequence[int]) -> QuerySet:
        """The same queries, renumbered: query `q` becomes `numbers[q]`."""
        return QuerySet(tuple(numbers[q] for q in self.train), tuple(numbers[q] for q in self.dev))


def families(examples: Examples) -> list[str]:
    """The family name of each question: the least of the questions that share an answer, directly or through others.

    Sets of queries are drawn by family, so that questions with one answer are in one set.
    """
    answers = examples.pairs[:, 1] + len(examples.questions)
    edges = np.stack([examples.pairs[:, 0], answers], axis=1)
    component = components(len(examples.questions) + len(examples.answers), edges).tolist()
    names: dict[int, str] = {}
    for node, text in zip(component, examples.questions, strict=False):
        names[node] = min(names.get(node, text), text)
    return [names[node] for node in component[: len(examples.questions)]]


def query_sets(names: Sequence[str], shares: Sequence[float], *, dev: float) -> list[QuerySet]:
    """Disjoint sets of the queries 0…N−1, chosen by a hash of the family name.

    Args:
        names: family name of each query; a family is in one set, and there in the training or the development part.
        shares: share of the families in each set, at most 1 in all.
        dev: share of each set for development.
    """
    bounds = [0.0, *accumulate(shares)]
    if any(share <= 0 for share in shares) or bounds[-1] > 1 + 1e-9 or not 0 <= dev < 1:
        raise ValueError(
            f"Expected positive shares of 1 in all at most and a development share from 0 to below 1, but got "
            f"{list(shares)} and {dev}."
        )
    hashes = np.array([_hash(name) for name in names])
    order = np.lexsort((np.arange(len(names)), hashes))
    sets = []
    for low, high in pairwise(bounds):
        cut = high - dev * (high - low)
        train = [int(q) for q in order if low <= hashes[q] < cut]
        held_out = [int(q) for q in order if cut <= hashes[q] < high]
        sets.append(QuerySet(tuple(train), tuple(held_out)))
    return sets


def _hash(name: str) -> float:
    """A number from 0 to below 1."""
    digest = hashlib.blake2b(" ".join(name.casefold().split()).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


# --- labels ---------------------------------------------------------------------------------------------------------


def candidates(search: Search, queries: Mapping[int, str], k: int) -> list[Retrieved]:
    """The k answers nearest to each query, best first."""
    if k < 1:
        raise ValueError(f"Expected at least one candidate per query, but got {k}.")
    if not queries:
        return []
    scores, answers = search(list(queries.values()), k)
    return [
        Retrieved(query, int(answer), rank, float(score))
        for query, row, row_scores in zip(queries, answers, scores, strict=True)
        for rank, (answer, score) in enumerate(zip(row, row_scores, strict=True), start=1)
        if answer >= 0
    ]


def known_matches(retrieved: Sequence[Retrieved], right: Sequence[Collection[int]]) -> list[bool]:
    """Whether each candidate is a known answer; `right` holds the answers of each query."""
    return [match.answer in right[match.query] for match in retrieved]


def label_candidates(
    retrieved: Sequence[Retrieved],
    score: Score,
    questions: Mapping[int, str] | Sequence[str],
    answers: Sequence[str],
    *,
    right: Sequence[Collection[int]] | None = None,
) -> list[Label]:
    """Each candidate with the label of the cross-encoder and, if `right` is given, that of people."""
    probabilities = score([(questions[match.query], answers[match.answer]) for match in retrieved])
    human = known_matches(retrieved, right) if right is not None else [None] * len(retrieved)
    return [Label(*row) for row in zip(retrieved, human, probabilities.tolist(), strict=True)]


def human_pairs(labels: Iterable[Label]) -> list[Retrieved]:
    """Pairs that people accept: the baseline with labels."""
    return [label.retrieved for label in labels if label.human]


def top_pairs(labels: Iterable[Label]) -> list[Retrieved]:
    """The first answers of the known bi-encoder: the baseline without labels."""
    return [label.retrieved for label in labels if label.retrieved.rank == 1]


def matched_pairs(labels: Iterable[Label], *, threshold: float = THRESHOLD) -> list[Retrieved]:
    """Pairs that the cross-encoder accepts: the method without labels."""
    return [label.retrieved for label in labels if label.probability > threshold]


def agreed_pairs(labels: Iterable[Label], *, threshold: float = THRESHOLD) -> list[Retrieved]:
    """Pairs that people and the cross-encoder accept: the method with labels."""
    return [label.retrieved for label in labels if label.human and label.probability > threshold]


def balanced(
    labels: Sequence[bool], rng: np.random.Generator, *, most: int = 0, minimum_positives: float = 0.0
) -> list[int]:
    """Indices, in order, of a random sample in which at least `minimum_positives` of the labels are positive.

    Most candidates do not match, and feeding labels back into the known models adds to that (ibid., §5.3). Negatives
    are dropped until the share is reached; then, with `most`, that many pairs are drawn, positives in proportion.
    """
    if not 0 <= minimum_positives <= 1:
        raise ValueError(f"Expected a share of positives from 0 to 1, but got {minimum_positives}.")
    positive = np.flatnonzero(np.asarray(labels, dtype=np.bool_))
    negative = np.flatnonzero(~np.asarray(labels, dtype=np.bool_))
    if minimum_positives:
        room = int(len(positive) * (1 - minimum_positives) / minimum_positives + 1e-9)
        negative = rng.permutation(negative)[:room]
    if most and len(positive) + len(negative) > most:
        share = round(most * len(positive) / (len(positive) + len(negative)))
        positive, negative = rng.permutation(positive)[:share], rng.permutation(negative)[: most - share]
    indices: list[int] = np.sort(np.concatenate([positive, negative])).tolist()
    return indices


# --- measures -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """Number of queries by which of two models ranks a right answer first."""

    neither: int
    only_first: int
    only_second: int
    both: int


def agreement(first: Sequence[bool], second: Sequence[bool]) -> Agreement:
    """The agreement of two models on the same queries."""
    one, other = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)  # (Q,)
    if one.shape != other.shape:
        raise ValueError(f"Expected results for the same queries, but got {len(one)} and {len(other)}.")
    cells = (~one & ~other, one & ~other, ~one & other, one & other)
    return Agreement(*(int(cell.sum()) for cell in cells))


def by_distance(
    first: Sequence[bool], second: Sequence[bool], distances: Sequence[float], *, ranges: int = RANGES
) -> list[Agreement]:
    """The agreement in equally large ranges of the queries by the distances of the first model, nearest first."""
    if len(distances) != len(first):
        raise ValueError(f"Expected a distance for each of {len(first)} queries, but got {len(distances)}.")
    order = np.argsort(np.asarray(distances, dtype=np.float64), kind="stable")
    one, other = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    return [agreement(one[part].tolist(), other[part].tolist()) for part in np.array_split(order, ranges)]


def squared_distances(closeness: FloatArray) -> NDArray[np.float32]:
    """`‖u − v‖² = 2 − 2⟨u, v⟩` of unit vectors."""
    return (2 - 2 * closeness).astype(np.float32)
