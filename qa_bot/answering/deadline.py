"""One absolute deadline travels with a question; stages run in worker threads, waited for as long as it allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")


GLANCE = 0.02
"""Seconds after which a wait looks whether anybody still wants the answer."""


class DeadlineExceededError(TimeoutError):
    """Raised inside a stage that notices, between two batches, that its time is over."""


class Cancelled(Exception):  # noqa: N818  # not a fault: somebody wanted it
    """Nobody wants the answer any more."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock, in seconds; it comes at once when `cancelled` is set."""

    at: float
    cancelled: Event | None = None

    @classmethod
    def after(cls, seconds: float, cancelled: Event | None = None) -> Deadline:
        return cls(time.monotonic() + seconds, cancelled)

    def left(self) -> float:
        """Seconds left, never negative."""
        if self.cancelled is not None and self.cancelled.is_set():
            return 0.0
        return max(0.0, self.at - time.monotonic())

    def within(self, cap: float) -> Deadline:
        """The earlier of this deadline and `cap` seconds from now: what a stage is given."""
        return Deadline(min(self.at, time.monotonic() + cap), self.cancelled)

    def check(self) -> None:
        """Raise `DeadlineExceededError` when the time is over; long work calls it between batches."""
        if self.left() <= 0:
            raise DeadlineExceededError("the deadline of this question has passed")

    def check_cancelled(self) -> None:
        """Raise `Cancelled` when the answer is not wanted any more."""
        if self.cancelled is not None and self.cancelled.is_set():
            raise Cancelled


@dataclass(slots=True)
class Stages:
    """Runs the named stages of one question, keeps their timings and the names of those that had to be skipped.

    A stage that overruns is abandoned, not killed: its thread ends at its own next deadline check.
    """

    deadline: Deadline
    workers: ThreadPoolExecutor
    caps: Mapping[str, float] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def here(self, name: str, work: Callable[[], Result]) -> Result:
        """Run a stage of a few milliseconds, which is never skipped, in the calling thread."""
        self.deadline.check_cancelled()
        started = time.monotonic()
        result = work()
        self.timings[name] = time.monotonic() - started
        return result

    def run(self, name: str, work: Callable[[Deadline], Result], fallback: Result) -> Result:
        """The result of `work`, or `fallback` (and a note in `skipped`) when it cannot finish in time."""
        return self.side_by_side({name: work}, fallback)[name]

    def side_by_side(
        self, works: Mapping[str, Callable[[Deadline], Result]], fallback: Result, *, quick: Collection[str] = ()
    ) -> dict[str, Result]:
        """Run stages at the same time, each within its own share of the deadline.

        Those named in `quick` run in the calling thread, for handing them over would take as long as they do: they
        must look at their deadline themselves, for nobody can abandon them.
        """
        started = time.monotonic()
        running: dict[str, Callable[[], tuple[Result, float]]] = {}
        results = dict.fromkeys(works, fallback)
        for name in sorted(works, key=quick.__contains__):  # the others first: they begin as they are handed over
            work, share = works[name], self.deadline.within(self.caps.get(name, float("inf")))
            if share.left() <= 0:
                self._skip(name, 0.0)
            elif name in quick:
                running[name] = partial(_timed, work, share)
            else:
                running[name] = partial(_awaited, self.workers.submit(_timed, work, share), share)
        for name, finish in reversed(running.items()):
            try:
                results[name], self.timings[name] = finish()
            except TimeoutError:  # of the waiting, or of a stage that noticed by itself
                self._skip(name, time.monotonic() - started)
        self.deadline.check_cancelled()
        return results

    def report(self) -> dict[str, float]:
        """Seconds by stage, and the total since the question came."""
        return {**{name: round(s, 6) for name, s in self.timings.items()}, "total": self.elapsed()}

    def elapsed(self) -> float:
        return round(time.monotonic() - self.started, 6)

    def _skip(self, name: str, seconds: float) -> None:
        self.skipped.append(name)
        self.timings[name] = seconds


def _awaited(future: Future[Result], share: Deadline) -> Result:
    """The result, waited for as long as there is time and somebody wants it."""
    while share.cancelled is not None and share.left() > GLANCE and not future.done():
        wait([future], timeout=GLANCE)
    try:
        return future.result(timeout=share.left())
    except TimeoutError:
        future.cancel()
        raise


def _timed(work: Callable[[Deadline], Result], share: Deadline) -> tuple[Result, float]:
    started = time.monotonic()
    share.check()
    return work(share), time.monotonic() - started
