"""Confidence made anew from what the stages say: by logistic regression (Platt 1999) or by isotonic regression.

Isotonic regression is the never falling function nearest to the labels (Zadrozny and Elkan 2002).
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
"""From questions' features, (N,), and whether they were answered right, (N,), to the confidence in an answer."""


def held_out(
    make: Fit, rows: Sequence[Features], right: Sequence[bool], *, folds: int = FOLDS, seed: int = 0
) -> Floats:
    """Confidences (N,), each of what was fitted on the other folds; every fold has its share of right ones.

    Raises:
        ValueError: fewer than two right or two wrong ones, so that a fit could find all labels alike.
    """
    y = np.asarray(right, bool)
    if not 2 <= y.sum() <= len(y) - 2:
        raise ValueError(
            f"Expected two right and two wrong first documents or more, but got {int(y.sum())} right of {len(y)}; "
            "measure on more questions."
        )
    fold = np.empty(len(y), np.int64)
    drawn = np.random.default_rng(seed).permutation(len(y))
    fold[drawn[np.argsort(~y[drawn], kind="stable")]] = np.arange(len(y)) % folds
    confidences = np.zeros(len(y))
    for each in range(folds):
        train, test = np.flatnonzero(fold != each).tolist(), np.flatnonzero(fold == each).tolist()
        made = make([rows[i] for i in train], [bool(y[i]) for i in train])
        confidences[test] = [made(rows[i]) for i in test]
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
    """Isotonic regression of another confidence, as that is on questions that it was not fitted on."""

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
