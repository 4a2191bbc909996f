"""The prior probability that a candidate is good, by its rank alone.

    p(r) = first / log2(r + 1)

for ranks r from 1, with the discount of nDCG (Järvelin and Kekäläinen 2002) and `first` the share of good candidates at
rank 1. Learned corrections are added in log-odds, so corrections of 0 keep the order of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.types import FloatArray

RANK = "place"
"""Name of the column of scores with the rank of a candidate, from 0, in the order to correct."""


@dataclass(frozen=True, slots=True)
class RankPrior:
    first: float  # share of candidates at rank 1 that are good, between 0 and 1

    def __post_init__(self) -> None:
        if not 0 < self.first < 1:
            raise ValueError(f"Expected a share between 0 and 1 for first ranks, but got {self.first}.")

    def expected(self, ranks: ArrayLike) -> NDArray[np.float64]:
        """Probabilities (N,) at ranks (N,) from 0; NaN counts as the first rank."""
        positions = np.nan_to_num(np.asarray(ranks, dtype=np.float64), nan=0.0)
        probabilities: NDArray[np.float64] = self.first / np.log2(positions + 2)
        return probabilities

    def log_odds(self, ranks: ArrayLike) -> NDArray[np.float64]:
        """(N,), `log p / (1 − p)`."""
        p = self.expected(ranks)
        return np.log(p / (1 - p))

    def corrected(self, ranks: ArrayLike, corrections: ArrayLike) -> FloatArray:
        """Probabilities (N,) with corrections (N,) in log-odds."""
        return (1 / (1 + np.exp(-self.log_odds(ranks) - np.asarray(corrections, dtype=np.float64)))).astype(np.float32)
