"""Several ranked lists into one: pure functions of (id, score) lists, best first.

Scores of unlike engines are never added as they are. A list names an id once. Equal fused scores are ordered by a
hash of the id, so that the outcome depends neither on the order of the lists nor on the age of a document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

Ranked = list[tuple[int, float]]

RANK_CONSTANT = 60  # the paper's: first ranks count more than later ones, but no single list decides alone


def reciprocal_rank(
    lists: Sequence[Ranked], *, weights: Sequence[float] | None = None, k: int = RANK_CONSTANT
) -> Ranked:
    """score(d) = Σ_l w_l / (k + rank_l(d)), ranks from 1, over the lists that hold d (Cormack et al. 2009, eq. 1)."""
    fused: dict[int, float] = defaultdict(float)
    for ranked, weight in zip(lists, _weights(lists, weights), strict=True):
        for rank, (document, _) in enumerate(ranked, start=1):
            fused[document] += weight / (k + rank)
    return best_first(fused)


def normalised_mean(
    lists: Sequence[Ranked], *, weights: Sequence[float] | None = None, floors: Sequence[float | None] | None = None
) -> Ranked:
    """score(d) = Σ_l w_l s'_l(d) / Σ_l w_l with s' = (s − min) / (max − min) within a list (Lee 1997, §3).

    A document that a list lacks counts 0 there; where all scores of a list are equal each counts 1.

    Args:
        floors: for each list what stands for its min, or None for its lowest score. A list that was not cut short
            should say what a document that it lacks would have scored, so that its last document is not taken for
            one of those.
    """
    fused: dict[int, float] = defaultdict(float)
    shares = _weights(lists, weights)
    total = sum(shares)
    for ranked, weight, floor in zip(lists, shares, floors or [None] * len(lists), strict=True):
        low, width = _range(ranked, floor)
        for document, score in ranked:
            fused[document] += weight * ((score - low) / width if width > 0 else 1.0) / total
    return best_first(fused)


def in_vocabulary_rule(dense: Ranked, keyword: Ranked, k: int, *, in_vocabulary: bool) -> Ranked:
    """The hybrid rule of example-driven question answering (thesis, ch. 3).

    Where every word of the query is in the encoder's vocabulary, the first k/2 (rounded up) come from the dense list
    and the rest from the keyword list, without those taken already; otherwise all come from the keyword list. The
    scores of two engines do not compare: score = 1 / rank in the new list.
    """
    taken = [document for document, _ in dense[: (k + 1) // 2]] if in_vocabulary else []
    already = set(taken)
    taken += [document for document, _ in keyword if document not in already]
    return [(document, 1 / rank) for rank, document in enumerate(taken[:k], start=1)]


def best_first(scores: dict[int, float]) -> Ranked:
    """Highest score first, equal ones by a hash of the id."""
    ranked = sorted(scores.items(), key=itemgetter(1), reverse=True)
    ties = [place for place, (before, after) in enumerate(pairwise(ranked)) if before[1] == after[1]]
    end = 0
    for start in ties:  # only runs of equal scores: the hash costs more than the sorting
        if start >= end:
            end = start + 2
            while end < len(ranked) and ranked[end][1] == ranked[start][1]:
                end += 1
            ranked[start:end] = sorted(ranked[start:end], key=lambda item: stable_hash(item[0]))
    return ranked


def stable_hash(number: int) -> int:
    """A 64-bit mix of an integer that is the same in every process and on every machine (Steele et al. 2014)."""
    mixed = (number + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return mixed ^ (mixed >> 31)


def _range(ranked: Ranked, floor: float | None) -> tuple[float, float]:
    """The last score, or what stands for it, and how far the first is above."""
    if not ranked:
        return 0.0, 0.0
    low = ranked[-1][1] if floor is None else floor
    return low, ranked[0][1] - low


def _weights(lists: Sequence[Ranked], weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * len(lists)
    if len(weights) != len(lists) or any(weight < 0 for weight in weights) or sum(weights) <= 0:
        raise ValueError(
            f"Expected {len(lists)} weights, none below 0 and not all 0, but got {list(weights)}; give one a list."
        )
    return weights
