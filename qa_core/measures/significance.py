"""Is one of two systems preferred? Exact tests over questions, for verdicts and for differences."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

SEED = 20170815
"""Of every bootstrap and randomisation test, so that a table comes out the same again."""
LEAST_P = 0.001
"""Smaller p values are printed as `p < .001`."""
BLOCK = 2**22
"""Signs drawn at a time, so that memory does not grow with the number of questions."""


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of so many wins and losses where both are as likely; ties are left out before.

    `min(1, 2 · Σ_{i ≤ min(w, l)} C(n, i) / 2ⁿ)` with `n = w + l`; 1 where there is neither (Dixon and Mood 1946).
    """
    n = wins + losses
    tail: int = sum(comb(n, i) for i in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / (1 << n))


def randomisation_test(differences: Sequence[float], *, seed: int, samples: int = 10_000) -> float:
    """Two-sided p that the mean difference is 0, where the sign of each is as likely to be the other (Fisher 1935).

    Exact over all signs where there are no more than `samples` ways to draw them; else `(1 + count) / (1 + samples)`
    of drawn ones. Differences of 0 change nothing.
    """
    values = np.array([each for each in differences if each], np.float64)
    n, observed = len(values), abs(float(np.sum(values))) - 1e-9
    if 2**n <= samples:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)  # (2ⁿ, n)
        return float(np.mean(np.abs(signs @ values) >= observed))
    rng, rows = np.random.default_rng(seed), max(1, BLOCK // n)
    as_far = 0
    for start in range(0, samples, rows):
        signs = 1 - 2 * rng.integers(2, size=(min(rows, samples - start), n))
        as_far += int(np.count_nonzero(np.abs(signs @ values) >= observed))
    return (1 + as_far) / (1 + samples)
