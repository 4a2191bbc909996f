"""nDCG@10 of candidates ordered by each score alone (Järvelin and Kekäläinen 2002).

Letters: N candidates of all questions together, F scores of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray

DEPTH = 10


def ndcg_by_feature(table: FloatArray, grades: NDArray[np.float64], question: IntArray) -> NDArray[np.float64]:
    """Mean nDCG@10 (F,) of each column over the questions with a good candidate; all 0 if there are none.

    Equal scores share the mean discount of their ranks, so the order of rows does not matter; NaN is the lowest score.

    Args:
        table: (N, F).
        grades: (N,), the gain of a candidate, 0 for a wrong one.
        question: (N,), a number for each question.
    """
    numbers = np.unique(question, return_inverse=True)[1]
    best = _gains(grades, grades, numbers)
    answerable = best > 0
    if not answerable.any():
        return np.zeros(table.shape[1])
    return np.array([(_gains(column, grades, numbers)[answerable] / best[answerable]).mean() for column in table.T])


def _gains(scores: NDArray[Any], grades: NDArray[np.float64], numbers: IntArray) -> NDArray[np.float64]:
    """DCG@10 (Q,) of the candidates of each question, ordered by scores (N,)."""
    values = np.where(np.isnan(scores), -np.inf, scores)
    order = np.lexsort((-values, numbers))
    question, values = numbers[order], values[order]
    rank = np.arange(len(question)) - np.searchsorted(question, question)
    discounts = np.where(rank < DEPTH, 1 / np.log2(rank + 2), 0.0)
    new = np.ones(len(question), dtype=bool)
    new[1:] = (question[1:] != question[:-1]) | (values[1:] != values[:-1])
    tied = np.cumsum(new) - 1
    shared = np.bincount(tied, discounts) / np.bincount(tied)
    gains: NDArray[np.float64] = np.bincount(question, grades[order] * shared[tied]).astype(np.float64)
    return gains
