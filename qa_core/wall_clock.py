"""The time of day, which does not go back within a process by less than a day: what was done later has a later time.

A clock that is set back by more was wrong before: it had jumped ahead. Time follows it at once, so that only what was
written meanwhile has times of the future; whoever compares stored times asks `is_ahead`.
"""

from __future__ import annotations

import math
import time
from threading import Lock

AHEAD = 86_400.0
"""Seconds; a time so far in the future is of a clock that was wrong. Zones of time and slow clocks explain less."""
STEP = 1e-6
"""Seconds between two readings while the computer's clock is behind."""

_lock = Lock()
_last = 0.0


def now() -> float:
    """Seconds since 1970. If the computer's clock was set back by less than `AHEAD`, time stands nearly still until it
    has caught up."""
    global _last  # one clock for the process
    with _lock:
        present = time.time()
        _last = present if present < _last - AHEAD else max(present, after(_last))
        return _last


def is_ahead(time: float) -> bool:
    """Whether a stored time is of a clock that was wrong: in the future by more than `AHEAD`."""
    return time > now() + AHEAD


def after(time: float) -> float:
    """The next time in an order; later by `STEP`, or by the smallest difference at its size."""
    return max(time + STEP, math.nextafter(time, math.inf))
