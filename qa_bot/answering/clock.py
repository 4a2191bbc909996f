"""The clock of one question: runs its stages within their shares of the deadline, and keeps their timings."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import Listener, ignore_event
from qa_bot.answering.observation.stage_log import SkipReason, StageLog, current_log
from rankers.combination import LEARNED

Result = TypeVar("Result")

DRAFTED = "drafted"
"""Name of the stage that interleaves two rankings."""
STAGE_TIME_SHARES = {
    "expand": 0.2,
    "keyword": 0.6,
    "dense": 0.6,
    "rank": 0.25,
    "verify": 0.3,
    LEARNED: 0.25,
    DRAFTED: 0.25,
    "clarify": 0.3,
    "suggest": 0.1,
}
MODEL_TIME_SHARE = 0.4
"""Largest share of a question's time for a stage, and for a trained ranker: a stage that overruns leaves enough time
to answer from the results of the others."""
POLL = 0.02
"""Seconds between two looks at the deadline, which the caller may cancel."""


class Ran(NamedTuple, Generic[Result]):
    """The result of a stage, and when it began and how long it took, in seconds."""

    result: Result
    began: float
    seconds: float


@dataclass(slots=True)
class Clock:
    """Runs the stages of one question within its deadline; keeps their timings and the names of skipped stages.

    A stage that overruns is abandoned, not killed: its thread ends at its next deadline check.
    """

    deadline: Deadline
    workers: ThreadPoolExecutor
    caps: Mapping[str, float] = field(default_factory=dict)  # seconds by stage; a stage without one has the deadline
    listen: Listener = ignore_event
    timings: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    log: StageLog | None = field(default_factory=current_log)

    def run_inline(self, name: str, work: Callable[[], Result]) -> Result:
        """Run a stage of a few milliseconds in the calling thread; it is never skipped."""
        self.deadline.check_cancelled()
        started = time.monotonic()
        result = work()
        self._ran(name, started, time.monotonic() - started)
        return result

    def run(self, name: str, work: Callable[[Deadline], Result], fallback: Result) -> Result:
        """The result of `work`, or `fallback` and an entry in `skipped` if it cannot finish in time."""
        return self.run_parallel({name: work}, fallback)[name]

    def run_quick(self, name: str, work: Callable[[Deadline], Result], fallback: Result) -> Result:
        """Like `run`, in the calling thread: `work` checks its deadline itself."""
        return self.run_parallel({name: work}, fallback, quick=(name,))[name]

    def run_parallel(
        self, works: Mapping[str, Callable[[Deadline], Result]], fallback: Result, *, quick: Collection[str] = ()
    ) -> dict[str, Result]:
        """Run stages at the same time, each within its share of the deadline.

        Stages named in `quick` run in the calling thread, because handing them to a worker would take as long as
        they do. They must check their deadline themselves: they cannot be abandoned.

        Raises:
            Cancelled: the caller cancelled the question.
        """
        started = time.monotonic()
        running: dict[str, Callable[[], Ran[Result] | None]] = {}
        results = dict.fromkeys(works, fallback)
        for name in sorted(works, key=quick.__contains__):  # slow stages first: they start when they are submitted
            work, share = works[name], self.deadline.within(self.caps.get(name, float("inf")))
            if share.left() <= 0:
                self._skip(name, started, 0.0, "deadline")
            elif name in quick:
                running[name] = partial(_timed, work, share)
            else:
                running[name] = partial(_wait_for, self.workers.submit(copy_context().run, _timed, work, share), share)
        for name, finish in reversed(running.items()):
            if ran := finish():
                results[name] = ran.result
                self._ran(name, ran.began, ran.seconds)
            else:
                self._skip(name, started, time.monotonic() - started, "overran")
        self.deadline.check_cancelled()
        return results

    def report(self) -> dict[str, float]:
        """Seconds by stage, and the total since the question arrived."""
        total = round(time.monotonic() - self.started, 6)
        return {**{name: round(seconds, 6) for name, seconds in self.timings.items()}, "total": total}

    def _ran(self, name: str, began: float, seconds: float) -> None:
        self.timings[name] = seconds
        if self.log is not None:
            self.log.add(name, began, seconds)

    def _skip(self, name: str, began: float, seconds: float, reason: SkipReason) -> None:
        self.skipped.append(name)
        self.timings[name] = seconds
        if self.log is not None:
            self.log.add(name, began, seconds, reason)


def _wait_for(future: Future[Ran[Result] | None], share: Deadline) -> Ran[Result] | None:
    """How the stage ended; None when its time is over or the caller cancels."""
    while not future.done() and (left := share.left()) > 0:
        wait([future], timeout=min(POLL, left))
    if future.done():
        return future.result()
    future.cancel()
    return None


def _timed(work: Callable[[Deadline], Result], share: Deadline) -> Ran[Result] | None:
    """The result with its times; None if the stage noticed that its time was over.

    An exception that a future carries would be a reference cycle, by its traceback and the waiting frame: the corridor
    of a former generation, with its files, would stay until the next collection of garbage.
    """
    started = time.monotonic()
    try:
        share.check()
        result = work(share)
    except TimeoutError:
        return None
    return Ran(result, started, time.monotonic() - started)
