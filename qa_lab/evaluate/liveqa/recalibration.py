"""Confidence made anew from what the stages say: by logistic regression (Platt 1999) or by isotonic regression.

Isotonic regression is the never falling function nearest to the labels (Zadrozny and Elkan 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from qa_bot.answering.confidence.calibration import Features, fit

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
        knots, levels = never_falling([row.get(name, 0.0) for row in rows], right)
        return lambda row: float(np.interp(row.get(name, 0.0), knots, levels))

    return make


def isotonic_after(first: Fit) -> Fit:
    """Isotonic regression of another confidence, as that is on questions that it was not fitted on."""

    def make(rows: Sequence[Features], right: Sequence[bool]) -> Confidence:
        knots, levels = never_falling(held_out(first, rows, right), right)
        return partial(_through, first(rows, right), knots, levels)

    return make


def never_falling(x: Sequence[float] | Floats, y: Sequence[bool] | Floats) -> tuple[Floats, Floats]:
    """Distinct `x`, ascending, (M,), and their isotonic fit to `y`, (M,), by pooling neighbours that fall."""
    knots, place = np.unique(np.asarray(x, np.float64), return_inverse=True)
    counts = np.bincount(place)
    means = np.bincount(place, np.asarray(y, np.float64)) / counts
    pools: list[tuple[float, int, int]] = []  # mean, weight, knots
    for mean, weight in zip(means.tolist(), counts.tolist(), strict=True):
        pool = (mean, weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            pool = _pooled(pools.pop(), pool)
        pools.append(pool)
    return knots, np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])


def logit(confidence: float) -> float:
    """`log(p / (1 − p))`, kept finite."""
    p = min(max(confidence, LEAST), 1 - LEAST)
    return float(np.log(p / (1 - p)))


def _pooled(left: tuple[float, int, int], right: tuple[float, int, int]) -> tuple[float, int, int]:
    weight = left[1] + right[1]
    return (left[0] * left[1] + right[0] * right[1]) / weight, weight, left[2] + right[2]


def _through(first: Confidence, knots: Floats, levels: Floats, row: Features) -> float:
    return float(np.interp(first(row), knots, levels))
