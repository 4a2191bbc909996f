"""Recalibrates the confidence, by logistic regression (Platt 1999) or by isotonic regression.

Isotonic regression is the nondecreasing function nearest to the labels (Zadrozny and Elkan 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from qa_bot.answering.confidence.calibration import Features
from qa_bot.answering.confidence.logistic_regression import fit

FOLDS = 5
LEAST = 1e-6

Floats = NDArray[np.float64]
Confidence = Callable[[Features], float]
Fit = Callable[[Sequence[Features], Sequence[bool]], Confidence]
"""Fits a confidence to the features of N questions and the correctness of their answers."""


def held_out(
    make: Fit, rows: Sequence[Features], right: Sequence[bool], *, folds: int = FOLDS, seed: int = 0
) -> Floats:
    """Confidences (N,), each by a fit to the other folds; right answers are spread evenly over the folds.

    Raises:
        ValueError: for fewer than two right or two wrong answers, because a fit needs both.
    """
    y = np.asarray(right, bool)
    if not 2 <= y.sum() <= len(y) - 2:
        raise ValueError(
            f"Expected at least two right and two wrong first documents, but got {int(y.sum())} right of {len(y)}; "
            "measure on more questions."
        )
    fold = np.empty(len(y), np.int64)
    drawn = np.random.default_rng(seed).permutation(len(y))
    fold[drawn[np.argsort(~y[drawn], kind="stable")]] = np.arange(len(y)) % folds
    confidences = np.zeros(len(y))
    for number in range(folds):
        train, test = (np.flatnonzero(chosen).tolist() for chosen in (fold != number, fold == number))
        confidence = make([rows[i] for i in train], [bool(y[i]) for i in train])
        confidences[test] = [confidence(rows[i]) for i in test]
    return confidences


def platt(names: Sequence[str]) -> Fit:
    """Logistic regression over these features, with a small penalty."""
    return lambda rows, right: fit(rows, right, names=names).confidence


def isotonic(name: str) -> Fit:
    """Isotonic regression of one feature."""

    def make(rows: Sequence[Features], right: Sequence[bool]) -> Confidence:
        level = isotonic_fit([row.get(name, 0.0) for row in rows], right)
        return lambda row: level(row.get(name, 0.0))

    return make


def isotonic_after(first: Fit) -> Fit:
    """Isotonic regression of the held-out values of another confidence."""

    def make(rows: Sequence[Features], right: Sequence[bool]) -> Confidence:
        level = isotonic_fit(held_out(first, rows, right).tolist(), right)
        confidence = first(rows, right)
        return lambda row: level(confidence(row))

    return make


def isotonic_fit(x: Sequence[float], y: Sequence[bool]) -> Callable[[float], float]:
    """The isotonic regression of `y` on `x`: linear between the values of `x`, constant outside."""
    model = IsotonicRegression(out_of_bounds="clip").fit(x, np.asarray(y, np.float64))
    return lambda value: float(np.interp(value, model.X_thresholds_, model.y_thresholds_))


def logit(confidence: float) -> float:
    """`log(p / (1 − p))`, kept finite."""
    p = min(max(confidence, LEAST), 1 - LEAST)
    return float(np.log(p / (1 - p)))
