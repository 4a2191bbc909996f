"""Factors of the learning rate by step, counted from 0."""

from __future__ import annotations

from collections.abc import Callable


def triangle(steps: int, *, warm_up: float) -> Callable[[int], float]:
    """Up over the first share of the steps, then down to nothing, both in a straight line."""
    top = max(1, round(warm_up * steps))
    return lambda step: min((step + 1) / top, max(0.0, (steps - step) / max(1, steps - top)))
