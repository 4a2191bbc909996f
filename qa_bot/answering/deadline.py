"""A deadline: a moment on the monotonic clock, which passes early if the caller cancels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event


class DeadlineExceededError(TimeoutError):
    """A stage noticed, between two batches, that its time is over."""


class Cancelled(Exception):  # noqa: N818  # not an error: the caller wanted it
    """The caller cancelled the question."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the clock `now`, in seconds; the deadline passes immediately when `cancelled` is set."""

    at: float
    cancelled: Event | None = None
    now: Callable[[], float] = time.monotonic

    @classmethod
    def after(
        cls, seconds: float, cancelled: Event | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> Deadline:
        return cls(now() + seconds, cancelled, now)

    def left(self) -> float:
        """Seconds left, never negative."""
        if self.cancelled is not None and self.cancelled.is_set():
            return 0.0
        return max(0.0, self.at - self.now())

    def within(self, cap: float) -> Deadline:
        """The earlier of this deadline and `cap` seconds from now: the deadline of one stage."""
        return replace(self, at=min(self.at, self.now() + cap))

    def check(self) -> None:
        """Raise DeadlineExceededError if the time is over; long work calls it between batches."""
        if self.left() <= 0:
            raise DeadlineExceededError("the deadline of this question has passed")

    def check_cancelled(self) -> None:
        """Raise Cancelled if the caller cancelled the question."""
        if self.cancelled is not None and self.cancelled.is_set():
            raise Cancelled
