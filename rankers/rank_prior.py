"""What is expected of a candidate that nobody has judged yet: by its place alone.

    p(r) = first / log2(r + 1)

with r from 1: the discount of nDCG (Järvelin and Kekäläinen 2002), `first` the share of first places that are good.
What is learnt of candidates is added in log-odds, so that nothing learnt leaves their order as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.types import FloatArray

RANK = "place"
"""Name of the column of scores that tells a candidate's place, from 0, in the order that is to be corrected."""


@dataclass(frozen=True, slots=True)
class RankPrior:
    first: float  # share of first places that are good, between 0 and 1

    def __post_init__(self) -> None:
        if not 0 < self.first < 1:
            raise ValueError(f"Expected a share between 0 and 1 for first places, but got {self.first}.")

    def expected(self, places: ArrayLike) -> NDArray[np.float64]:
        """Shares (N,) of good candidates at places (N,) from 0; one whose place is NaN counts as a first one."""
        given = np.nan_to_num(np.asarray(places, dtype=np.float64), nan=0.0)
        shares: NDArray[np.float64] = self.first / np.log2(given + 2)
        return shares

    def log_odds(self, places: ArrayLike) -> NDArray[np.float64]:
        """(N,), `log p / (1 − p)`."""
        shares = self.expected(places)
        return np.log(shares / (1 - shares))

    def corrected(self, places: ArrayLike, learnt: ArrayLike) -> FloatArray:
        """Shares (N,) after what was learnt (N,), in log-odds."""
        return (1 / (1 + np.exp(-self.log_odds(places) - np.asarray(learnt, dtype=np.float64)))).astype(np.float32)
