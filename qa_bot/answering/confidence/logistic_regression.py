"""Fits calibrations by logistic regression, with thresholds from cross-validation.

scikit-learn is imported by `fit` only, because answering does not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_bot.answering.confidence.calibration import FEATURES, Calibration, Features


def fit(
    rows: Sequence[Features],
    right: Sequence[bool],
    *,
    names: Sequence[str] = FEATURES,
    weights: ArrayLike | None = None,
    penalty: float = 1.0,
) -> Calibration:
    """Logistic regression over the features `names`, scaled to unit variance, with an L2 penalty on the weights.

    Args:
        weights: weight of each row, (N,); 1 by default.

    Raises:
        ValueError: if all labels are equal.
    """
    from sklearn.linear_model import LogisticRegression

    labels = np.asarray(right, bool)
    if not 0 < labels.sum() < len(labels):
        raise ValueError(f"Expected right and wrong examples, but got {labels.sum()} right of {len(labels)}.")
    x = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    n = _weights(weights, len(rows))
    mean = np.average(x, axis=0, weights=n)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=n))
    deviation[deviation == 0] = 1.0
    regression = LogisticRegression(C=1 / penalty if penalty else np.inf, solver="newton-cholesky", tol=1e-10)
    regression.fit((x - mean) / deviation, labels, sample_weight=n)
    return Calibration(
        features=tuple(names),
        mean=tuple(mean.tolist()),
        deviation=tuple(deviation.tolist()),
        weights=tuple(regression.coef_[0].tolist()),
        bias=float(regression.intercept_[0]),
    )


def cross_validated(
    rows: Sequence[Features],
    right: Sequence[bool],
    groups: Sequence[str],
    *,
    names: Sequence[str] = FEATURES,
    weights: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> tuple[Calibration, NDArray[np.float64]]:
    """A calibration fitted to all rows, with thresholds from the held-out confidences (N,), which are returned too.

    The rows of a group are in one fold. `weights` (N,) apply to the fits and to the precisions.
    """
    n = _weights(weights, len(rows))
    order = np.random.default_rng(seed).permutation(sorted(set(groups)))
    fold_of = {group: i % folds for i, group in enumerate(order)}
    fold_by_row = np.array([fold_of[group] for group in groups])
    held_out = np.zeros(len(rows))
    for fold in range(folds):
        train, test = (np.flatnonzero(chosen).tolist() for chosen in (fold_by_row != fold, fold_by_row == fold))
        fitted = fit([rows[i] for i in train], [right[i] for i in train], names=names, weights=n[train])
        held_out[test] = [fitted.confidence(rows[i]) for i in test]
    thresholds, precisions = precision_table(held_out, right, weights=n)
    whole = fit(rows, right, names=names, weights=n)
    return replace(whole, thresholds=thresholds, precisions=precisions), held_out


def precision_table(
    confidences: NDArray[np.float64], right: Sequence[bool], *, weights: ArrayLike | None = None, least: int = 10
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Thresholds in steps of .01, each with the precision of the answers above it; precisions never fall.

    Thresholds reached by fewer than `least` answers are left out.
    """
    labels, n = np.asarray(right, float), _weights(weights, len(right))
    above = {percent / 100: confidences >= percent / 100 for percent in range(100)}
    table = {t: float(np.average(labels[rows], weights=n[rows])) for t, rows in above.items() if rows.sum() >= least}
    return tuple(table), tuple(np.maximum.accumulate([*table.values()]).round(4).tolist())


def _weights(weights: ArrayLike | None, size: int) -> NDArray[np.float64]:
    return np.ones(size) if weights is None else np.asarray(weights, np.float64)
