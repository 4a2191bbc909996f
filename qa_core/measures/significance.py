"""Significance tests for paired comparisons: exact and randomised, over questions.

scipy is imported by the tests themselves, because answering does not need it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SEED = 20170815
"""Seed of all bootstraps and randomisation tests, so that tables are reproducible."""
LEAST_P = 0.001
"""Smaller p values are printed as `p < .001`."""
BLOCK = 2**22
"""Signs drawn at a time, a bound on memory."""


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of wins and losses that are equally likely; leave ties out. 1 without wins and losses.

    `min(1, 2 · Σ_{i ≤ min(w, l)} C(n, i) / 2ⁿ)` with `n = w + l` (Dixon and Mood 1946).
    """
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def dependent_correlations(first: float, second: float, between: float, count: int) -> float:
    """One-tailed p that a correlation is not above another one with the same variable (Steiger 1980).

    With `r̄ = (r₁ + r₂) / 2`, `ψ = r₁₂ (1 − 2r̄²) − r̄² (1 − 2r̄² − r₁₂²) / 2` and `s = ψ / (1 − r̄²)²`,
    `Z = (artanh r₁ − artanh r₂) √(n − 3) / √(2 − 2s)`. NaN for fewer than four pairs or a correlation of ±1.

    Args:
        first: `r₁`, of the scores that should be better, with human scores for example.
        second: `r₂`, of other scores with the same variable.
        between: `r₁₂`, of the two scores.
        count: pairs.
    """
    from scipy.stats import norm

    mean = ((first + second) / 2) ** 2
    if count < 4 or not max(abs(first), abs(second)) < 1:
        return float("nan")
    shared = between * (1 - 2 * mean) - mean * (1 - 2 * mean - between**2) / 2
    spread = 2 - 2 * shared / (1 - mean) ** 2
    if spread <= 0:
        return 1.0 if first <= second else 0.0
    z = (np.arctanh(first) - np.arctanh(second)) * np.sqrt((count - 3) / spread)
    return float(norm.sf(z))


def randomisation_test(differences: Sequence[float], *, seed: int, samples: int = 10_000) -> float:
    """Two-sided p of a mean difference of 0, if each difference may have either sign (Fisher 1935).

    Exact if there are at most `samples` combinations of signs; otherwise `samples` of them are drawn. Differences of 0
    have no effect.
    """
    from scipy.stats import permutation_test

    values = [difference for difference in differences if difference]
    if len(values) < 2:
        return 1.0
    result = permutation_test(
        (values,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=samples,
        batch=max(1, BLOCK // len(values)),
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)
