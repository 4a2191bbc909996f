"""Exact search over vectors in blocks: ranks of the right answers, and the nearest answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qa_core.types import FloatArray, IntArray

_CELLS = 1 << 24  # scores per block


@dataclass(frozen=True, slots=True)
class Quality:
    """Search quality over questions that have a right answer; wrong answers with an equal score rank before it."""

    success: float  # S@1: the share whose first answer is right
    rr: float  # MRR: mean of 1 / rank of the first right answer

    def __str__(self) -> str:
        return f"S@1 {self.success:.3f}, MRR {self.rr:.3f}"

    def as_dict(self) -> dict[str, float]:
        """By the names of ir-measures."""
        return {"Success@1": self.success, "RR": self.rr}


def quality(questions: FloatArray, answers: FloatArray, right: Sequence[Collection[int]]) -> Quality:
    """Quality of search by inner product of vectors (N, D) and (M, D); `right` holds at least one each."""
    ranks = first_ranks(questions, answers, right)
    return Quality(float((ranks == 1).mean()), float((1 / ranks).mean()))


def first_ranks(questions: FloatArray, answers: FloatArray, right: Sequence[Collection[int]]) -> IntArray:
    """The rank (N,), from 1, of the first right answer of each question."""
    ranks = np.empty(len(questions), dtype=np.int64)
    for row, scores in _scores(questions, answers):
        right_scores = scores[list(right[row])]
        best = right_scores.max()
        ranks[row] = 1 + np.count_nonzero(scores >= best) - np.count_nonzero(right_scores == best)
    return ranks


def nearest(questions: FloatArray, answers: FloatArray, k: int) -> list[list[int]]:
    """The k answers of highest inner product for each question, best first."""
    k = min(k, len(answers))
    ranked = []
    for _, scores in _scores(questions, answers):
        top = np.argpartition(-scores, k - 1)[:k]
        ranked.append(top[np.lexsort((top, -scores[top]))].tolist())
    return ranked


def _scores(questions: FloatArray, answers: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    rows = max(1, _CELLS // max(1, len(answers)))
    for start in range(0, len(questions), rows):
        yield from enumerate(questions[start : start + rows] @ answers.T, start)
