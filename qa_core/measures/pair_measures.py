"""Measures of scored pairs against gold scores or labels: rank correlation and area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qa_core.measures.metrics import Score, spearman


def auc(scores: Sequence[float], labels: Sequence[bool]) -> Score:
    """Probability that a positive pair scores above a negative one, ties counting half (Mann-Whitney U / (n⁺ n⁻)).

    `per_query` holds, by the index of each positive pair, the share of negative pairs below it. The standard error is
    DeLong's (1988), which includes the spread of the negatives. NaN if one kind is missing.

    Raises:
        ValueError: for lists of different lengths, or NaN scores.
    """
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    if values.shape != positive.shape or np.isnan(values).any():
        raise ValueError(
            f"Expected a number for each label, but got {values.size} scores ({int(np.isnan(values).sum())} of them "
            f"NaN) and {positive.size} labels."
        )
    wins = _shares_below(values[positive], values[~positive])
    losses = 1 - _shares_below(values[~positive], values[positive])
    if not len(wins) or not len(losses):
        return Score(float("nan"), float("nan"), {})
    error = np.sqrt(_variance(wins) + _variance(losses))
    indexes = map(str, np.flatnonzero(positive).tolist())
    return Score(float(wins.mean()), float(error), dict(zip(indexes, wins.tolist(), strict=True)))


def rank_correlation(scores: Sequence[float], gold: Sequence[float]) -> Score:
    """Spearman's ρ with the standard error `√((1 − ρ²) / (n − 2))` of its t statistic; without values per pair."""
    rho = spearman(scores, gold)
    error = np.sqrt((1 - rho**2) / (len(gold) - 2)) if len(gold) > 2 else float("nan")
    return Score(rho, float(error), {})


def _shares_below(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of `others` below each value, ties counting half."""
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return (below + up_to) / (2 * max(len(ordered), 1))


def _variance(values: NDArray[np.float64]) -> float:
    return float(np.var(values, ddof=1) / len(values)) if len(values) > 1 else float("nan")
