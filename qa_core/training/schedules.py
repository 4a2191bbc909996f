"""Learning rate schedules: factors by step, counted from 0."""

from __future__ import annotations

from collections.abc import Callable


def triangle(steps: int, *, warm_up: float) -> Callable[[int], float]:
    """Linear warm-up over the first share of the steps, then linear decay to 0."""
    top = max(1, round(warm_up * steps))
    return lambda step: min((step + 1) / top, max(0.0, (steps - step) / max(1, steps - top)))
