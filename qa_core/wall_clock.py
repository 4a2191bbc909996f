"""The time of day, which never goes back within a process: what was done later has a later time."""

from __future__ import annotations

import time
from threading import Lock

STEP = 1e-6
"""Seconds between two readings while the computer's clock is behind."""

_lock = Lock()
_last = 0.0


def now() -> float:
    """Seconds since 1970. If the computer's clock was set back, time stands nearly still until it has caught up."""
    global _last  # one clock for the process
    with _lock:
        _last = max(time.time(), _last + STEP)
        return _last
