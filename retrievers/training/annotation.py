"""Training pairs for a bi-encoder, labelled by a cross-encoder (Chiu and Shinzato 2022).

What a known bi-encoder finds for new queries is judged by a known cross-encoder. What it takes for a match is a
positive pair of the new bi-encoder: by itself where nobody labelled the queries, and only where people say so too
where somebody did. Everything here is a pure function; encoders and classifiers are arguments.
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

Search = Callable[[Sequence[str], int], tuple[FloatArray, IntArray]]
"""Scores (Q, k) and answers (Q, k) that a bi-encoder finds for texts, best first; answer −1 where there is none."""
Score = Callable[[Sequence[tuple[str, str]]], FloatArray]
"""Probabilities (N,) that question and answer match."""

THRESHOLD = 0.5
RANGES = 5


class Found(NamedTuple):
    """An answer that the known bi-encoder found for a query, both by number."""

    query: int
    answer: int
    rank: int  # from 1
    closeness: float  # inner product of unit vectors


class Label(NamedTuple):
    """What people and the cross-encoder say of a pair."""

    found: Found
    given: bool | None  # None where nobody labelled the query
    probability: float


# --- query sets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries by number, in the order of their hash: the first of them are a random sample."""

    train: tuple[int, ...]
    dev: tuple[int, ...]

    def first(self, limit: int) -> QuerySet:
        """No more training queries than `limit`, and development queries in proportion."""
        share = min(1.0, limit / max(1, len(self.train)))
        return QuerySet(self.train[:limit], self.dev[: round(share * len(self.dev))])

    def numbered(self, numbers: Sequence[int]) -> QuerySet:
        """The same queries, each by the number that stands at its own."""
        return QuerySet(tuple(numbers[q] for q in self.train), tuple(numbers[q] for q in self.dev))


def families(examples: Examples) -> list[str]:
    """The name of each question's family: questions that share an answer, directly or by way of others.

    What asks for one thing must not stand in two sets. The name is the least of the family's questions.
    """
    parents = list(range(len(examples.questions)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    first: dict[int, int] = {}
    for question, answer in examples.pairs.tolist():
        parents[root(question)] = root(first.setdefault(answer, question))
    names: dict[int, str] = {}
    for place, text in enumerate(examples.questions):
        names[root(place)] = min(names.get(root(place), text), text)
    return [names[root(place)] for place in range(len(parents))]


def query_sets(names: Sequence[str], shares: Sequence[float], *, dev: float) -> list[QuerySet]:
    """Disjoint sets of the queries 0…N−1, decided by a hash of the family's name alone.

    Args:
        names: of each query's family; a family falls into one set, and into its training or its development part.
        shares: of the families, for each set; 1 in all at most.
        dev: share of each set that is for development.
    """
    bounds = [0.0, *accumulate(shares)]
    if any(share <= 0 for share in shares) or bounds[-1] > 1 + 1e-9 or not 0 <= dev < 1:
        raise ValueError(
            f"Expected positive shares of 1 in all at most and a development share from 0 to below 1, but got "
            f"{list(shares)} and {dev}."
        )
    places = np.array([_place(name) for name in names])
    order = np.lexsort((np.arange(len(names)), places))
    sets = []
    for low, high in pairwise(bounds):
        cut = high - dev * (high - low)
        kept = [int(q) for q in order if low <= places[q] < cut]
        held_out = [int(q) for q in order if cut <= places[q] < high]
        sets.append(QuerySet(tuple(kept), tuple(held_out)))
    return sets


def _place(name: str) -> float:
    digest = hashlib.blake2b(" ".join(name.casefold().split()).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


# --- labels ---------------------------------------------------------------------------------------------------------


def candidates(search: Search, queries: Mapping[int, str], k: int) -> list[Found]:
    """The k answers nearest to each query, query by query, best first."""
    if k < 1:
        raise ValueError(f"Expected at least one candidate a query, but got {k}.")
    if not queries:
        return []
    scores, answers = search(list(queries.values()), k)
    return [
        Found(query, int(answer), rank, float(score))
        for query, row, row_scores in zip(queries, answers, scores, strict=True)
        for rank, (answer, score) in enumerate(zip(row, row_scores, strict=True), start=1)
        if answer >= 0
    ]


def judged(found: Sequence[Found], right: Sequence[Collection[int]]) -> list[bool]:
    """Whether each candidate is a known answer; `right` holds the answers of each query."""
    return [each.answer in right[each.query] for each in found]


def labelled(
    found: Sequence[Found],
    score: Score,
    questions: Mapping[int, str] | Sequence[str],
    answers: Sequence[str],
    *,
    right: Sequence[Collection[int]] | None = None,
) -> list[Label]:
    """Each candidate with what the cross-encoder says of it, and people, where there is `right`."""
    chances = score([(questions[each.query], answers[each.answer]) for each in found])
    given = judged(found, right) if right is not None else [None] * len(found)
    return [Label(*each) for each in zip(found, given, chances.tolist(), strict=True)]


def given_pairs(labels: Iterable[Label]) -> list[Found]:
    """What people say matches: the baseline where there are labels."""
    return [label.found for label in labels if label.given]


def top_pairs(labels: Iterable[Label]) -> list[Found]:
    """What the known bi-encoder found first: the baseline without labels."""
    return [label.found for label in labels if label.found.rank == 1]


def matched_pairs(labels: Iterable[Label], *, threshold: float = THRESHOLD) -> list[Found]:
    """What the cross-encoder takes for a match: the method without labels."""
    return [label.found for label in labels if label.probability > threshold]


def agreed_pairs(labels: Iterable[Label], *, threshold: float = THRESHOLD) -> list[Found]:
    """What people and the cross-encoder take for a match: the method where there are labels."""
    return [label.found for label in labels if label.given and label.probability > threshold]


def balanced(
    labels: Sequence[bool], rng: np.random.Generator, *, most: int = 0, minimum_positives: float = 0.0
) -> list[int]:
    """Places, in order, of a random sample in which at least a share of the labels is positive.

    Candidates are mostly no matches, and labels that are fed back into the known models make it worse (ibid., §5.3).
    Negatives are left out until the share is reached; then, with `most`, so many pairs are drawn of both kinds alike.
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
    places: list[int] = np.sort(np.concatenate([positive, negative])).tolist()
    return places


# --- measures -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """Queries by who is right about their first answer."""

    neither: int
    only_first: int
    only_second: int
    both: int


def agreement(first: Sequence[bool], second: Sequence[bool]) -> Agreement:
    """Of two models on the same queries."""
    one, other = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)  # (Q,)
    if one.shape != other.shape:
        raise ValueError(f"Expected results for the same queries, but got {len(one)} and {len(other)}.")
    cells = (~one & ~other, one & ~other, ~one & other, one & other)
    return Agreement(*(int(cell.sum()) for cell in cells))


def by_distance(
    first: Sequence[bool], second: Sequence[bool], distances: Sequence[float], *, ranges: int = RANGES
) -> list[Agreement]:
    """The agreement in ranges of equal size of the queries, nearest first; `distances` are those of the first model."""
    if len(distances) != len(first):
        raise ValueError(f"Expected a distance for each of {len(first)} queries, but got {len(distances)}.")
    order = np.argsort(np.asarray(distances, dtype=np.float64), kind="stable")
    one, other = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    return [agreement(one[part].tolist(), other[part].tolist()) for part in np.array_split(order, ranges)]


def squared_distances(closeness: FloatArray) -> NDArray[np.float32]:
    """`‖u − v‖² = 2 − 2⟨u, v⟩` of unit vectors."""
    return (2 - 2 * closeness).astype(np.float32)
