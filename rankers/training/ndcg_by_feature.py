"""How well each score alone orders the candidates of its questions: nDCG@10 (Järvelin and Kekäläinen 2002).

Letters: N candidates of all questions together, F scores of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray

DEPTH = 10


def ndcg_by_feature(table: FloatArray, grades: NDArray[np.float64], question: IntArray) -> NDArray[np.float64]:
    """nDCG@10 of each column, (F,), over the questions that have a good candidate; all 0 where none has.

    Equal scores share their places, so that the order of the rows tells nothing; NaN is below every score.

    Args:
        table: (N, F).
        grades: (N,), the gain of a candidate, 0 for a wrong one.
        question: (N,), a number for each question.
    """
    numbers = np.unique(question, return_inverse=True)[1]
    best = _gains(grades, grades, numbers)
    asked = best > 0
    if not asked.any():
        return np.zeros(table.shape[1])
    return np.array([(_gains(column, grades, numbers)[asked] / best[asked]).mean() for column in table.T])


def _gains(scores: NDArray[Any], grades: NDArray[np.float64], numbers: IntArray) -> NDArray[np.float64]:
    """Discounted gains of each question's candidates by some scores, (Q,)."""
    values = np.where(np.isnan(scores), -np.inf, scores)
    order = np.lexsort((-values, numbers))
    own, values = numbers[order], values[order]
    place = np.arange(len(own)) - np.searchsorted(own, own)
    discounts = np.where(place < DEPTH, 1 / np.log2(place + 2), 0.0)
    new = np.ones(len(own), dtype=bool)
    new[1:] = (own[1:] != own[:-1]) | (values[1:] != values[:-1])
    tied = np.cumsum(new) - 1
    shared = np.bincount(tied, discounts) / np.bincount(tied)
    gains: NDArray[np.float64] = np.bincount(own, grades[order] * shared[tied]).astype(np.float64)
    return gains
