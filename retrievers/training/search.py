"""Exact search over vectors in blocks: how high right answers rank, and which wrong ones rank highest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qa_core.types import FloatArray, IntArray

_CELLS = 1 << 24  # scores at a time


@dataclass(frozen=True, slots=True)
class Quality:
    """Of questions with a right answer among those searched; an equal score of a wrong answer counts against them."""

    success: float  # S@1: the share whose first answer is right
    rr: float  # MRR: mean of 1 / rank of the first right answer


def quality(questions: FloatArray, answers: FloatArray, right: Sequence[Collection[int]]) -> Quality:
    """Of vectors (N, D) and (M, D) by inner product; `right` holds each question's answers, at least one."""
    ranks = first_ranks(questions, answers, right)
    return Quality(float((ranks == 1).mean()), float((1 / ranks).mean()))


def first_ranks(questions: FloatArray, answers: FloatArray, right: Sequence[Collection[int]]) -> IntArray:
    """The rank (N,), from 1, of each question's first right answer."""
    ranks = np.empty(len(questions), dtype=np.int64)
    for row, scores in _scores(questions, answers):
        own = list(right[row])
        best = scores[own].max()
        ranks[row] = 1 + np.count_nonzero(scores >= best) - np.count_nonzero(scores[own] == best)
    return ranks


def nearest(questions: FloatArray, answers: FloatArray, k: int) -> list[list[int]]:
    """The k answers of highest inner product for each question, best first."""
    k = min(k, len(answers))
    found = []
    for _, scores in _scores(questions, answers):
        top = np.argpartition(-scores, k - 1)[:k]
        found.append(top[np.lexsort((top, -scores[top]))].tolist())
    return found


def _scores(questions: FloatArray, answers: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    rows = max(1, _CELLS // max(1, len(answers)))
    for start in range(0, len(questions), rows):
        yield from enumerate(questions[start : start + rows] @ answers.T, start)
