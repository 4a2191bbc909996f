"""Conditional logit: weights of features by which the options of a choice compete, fitted with scipy.

(D. McFadden, "Conditional logit analysis of qualitative choice behavior", 1974.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Vector = NDArray[np.float64]


class Choice(NamedTuple):
    """Features of the C options of a choice, the target of the loss, and the weight of the choice."""

    features: Vector  # (C, F)
    target: NDArray[Any]  # (C,)
    weight: float = 1.0


Loss = Callable[[Vector, NDArray[Any]], tuple[float, Vector]]
"""Scores (C,) and target (C,) to the loss of a choice and its gradient (C,) by the scores."""


def cross_entropy(scores: Vector, target: Vector) -> tuple[float, Vector]:
    """`−Σ_c t_c log p_c`, where p is the softmax of the scores and the target t sums to 1."""
    log_p = scores - np.logaddexp.reduce(scores)
    return -float(target @ log_p), np.exp(log_p) - target


def any_right(scores: Vector, right: NDArray[np.bool_]) -> tuple[float, Vector]:
    """`−log Σ_{c right} p_c`, where p is the softmax of the scores; several options may be right."""
    log_p = scores - np.logaddexp.reduce(scores)
    log_right = np.logaddexp.reduce(log_p[right])
    gradient = np.exp(log_p)
    gradient[right] -= np.exp(log_p[right] - log_right)
    return -float(log_right), gradient


def fit_conditional_logit(choices: Sequence[Choice], loss: Loss, *, penalty: float) -> Vector:
    """The weights w (F,) that minimise `Σ_q weight_q loss(X_q w, target_q) + penalty |w|²`."""

    def objective(weights: Vector) -> tuple[float, Vector]:
        value, gradient = penalty * float(weights @ weights), 2 * penalty * weights
        for features, target, weight in choices:
            cost, slope = loss(features @ weights, target)
            value += weight * cost
            gradient += weight * (slope @ features)
        return value, gradient

    start = np.zeros(choices[0].features.shape[1])
    options = {"maxiter": 1_000, "ftol": 1e-14, "gtol": 1e-8}
    fitted: Vector = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    return fitted
