"""Measures of confidences: how well they are calibrated, and how well they separate right answers from wrong ones.

All take confidences (N,) in [0, 1] and the correctness of the answers (N,), with N of at least 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 10
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers with similar confidences: their number, mean confidence and share of right ones."""

    count: int
    confidence: float
    accuracy: float


def reliability(confidences: ArrayLike, right: ArrayLike, *, bins: int = BINS) -> list[Bin]:
    """Non-empty bins of equal width, lowest first; a confidence of 1 is in the last."""
    c, y = _checked(confidences, right)
    index = np.minimum((c * bins).astype(np.int64), bins - 1)
    counts = np.bincount(index, minlength=bins)
    sums, rights = np.bincount(index, c, minlength=bins), np.bincount(index, y, minlength=bins)
    return [Bin(n, s / n, r / n) for n, s, r in zip(counts.tolist(), sums.tolist(), rights.tolist(), strict=True) if n]


def calibration_error(confidences: ArrayLike, right: ArrayLike, *, bins: int = BINS) -> float:
    """ECE: `Σ n_b / N · |accuracy_b − confidence_b|` over bins of equal width (Naeini et al. 2015; Guo et al. 2017)."""
    table = reliability(confidences, right, bins=bins)
    return sum(b.count * abs(b.accuracy - b.confidence) for b in table) / sum(b.count for b in table)


def squared_errors(confidences: ArrayLike, right: ArrayLike) -> Floats:
    """`(confidence − right)²` of each answer, (N,); their mean is the Brier score."""
    c, y = _checked(confidences, right)
    return (c - y) ** 2


def risk_coverage(confidences: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    """Coverage `k / N` and the share of wrong answers among the `k` most confident, for k from 1 to N, (N,) each.

    Answers with equal confidence count with the mean over all their orders.
    """
    c, y = _checked(confidences, right)
    values, group = np.unique(-c, return_inverse=True)
    share = np.bincount(group, y) / np.bincount(group)  # of right answers per confidence
    expected = share[np.sort(group)] if len(values) < len(c) else y[np.argsort(-c)]
    k = np.arange(1, len(c) + 1)
    return k / len(c), 1 - np.cumsum(expected) / k


def area_under_risk(confidences: ArrayLike, right: ArrayLike) -> float:
    """AURC: the mean risk over all coverages (Geifman and El-Yaniv 2017); lower is better."""
    return float(risk_coverage(confidences, right)[1].mean())


def precision_at(confidences: ArrayLike, right: ArrayLike, *, coverage: float) -> float:
    """The share of right answers among the fewest most confident ones that reach the coverage in (0, 1]."""
    covered, risk = risk_coverage(confidences, right)
    return float(1 - risk[np.searchsorted(covered, coverage - 1e-12)])


def _checked(confidences: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    c, y = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    if c.ndim != 1 or c.shape != y.shape or not len(c):
        raise ValueError(f"Expected a confidence for each answer, at least 1, but got {c.shape} and {y.shape}.")
    if not ((c >= 0) & (c <= 1)).all():
        raise ValueError(f"Expected confidences in [0, 1], but got {c[~((c >= 0) & (c <= 1))][0]}.")
    return c, y
