"""The stages of one question with their times and counts, kept while a `stage_log` is open.

A caller opens a log, and the clock of each question that begins within it, in the same thread or context, adds to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

SkipReason = Literal["deadline", "overran"]
"""No time was left when the stage was to begin, or it did not finish in its share of the time."""


@dataclass(slots=True)
class StageRecord:
    """One run of a stage; `began` is a time of the monotonic clock in seconds."""

    name: str
    began: float
    seconds: float
    skipped: SkipReason | None = None
    counts: dict[str, int | str] = field(default_factory=dict)


@dataclass(slots=True)
class StageLog:
    """The stages of a question in the order in which they ended; one that ran twice has two records."""

    stages: list[StageRecord] = field(default_factory=list)

    def add(self, name: str, began: float, seconds: float, skipped: SkipReason | None = None) -> None:
        self.stages.append(StageRecord(name, began, seconds, skipped))

    def count(self, name: str, counts: Mapping[str, int | str]) -> None:
        """Add counts to the last run of a stage; does nothing if it has not run."""
        for record in reversed(self.stages):
            if record.name == name:
                record.counts.update(counts)
                return

    def seconds(self) -> dict[str, float]:
        """Seconds by stage, summed over its runs."""
        sums: dict[str, float] = {}
        for record in self.stages:
            sums[record.name] = sums.get(record.name, 0.0) + record.seconds
        return sums

    def skipped(self) -> dict[str, str]:
        """Reasons by the names of skipped stages."""
        return {record.name: record.skipped for record in self.stages if record.skipped is not None}


_current: ContextVar[StageLog | None] = ContextVar("stage_log", default=None)


def current_log() -> StageLog | None:
    """The log that is open in this context; None if the caller keeps none."""
    return _current.get()


@contextmanager
def stage_log() -> Iterator[StageLog]:
    """Keep the stages of the questions that are answered within."""
    log = StageLog()
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)
