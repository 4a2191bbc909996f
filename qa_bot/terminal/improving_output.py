"""Output about better vectors: progress, and which vectors answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qa_bot.terminal.sigint import check_interrupt

if TYPE_CHECKING:
    from qa_bot.documents.improving import Progress

REFRESH = 0.25
WIDTH = 24
"""Characters of the bar."""


@contextmanager
def improving() -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr with passages, rate and time left; nothing if stderr is not a terminal."""
    shown = -REFRESH

    def show(progress: Progress) -> None:
        nonlocal shown
        check_interrupt()
        now = time.monotonic()
        if sys.stderr.isatty() and now - shown >= REFRESH:
            shown = now
            sys.stderr.write(f"\r\x1b[K{bar(progress)}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def bar(progress: Progress) -> str:
    """One line: `█████░░░ 1,200 of 3,000 passages (95 a second, 19 s left)`."""
    full = round(WIDTH * progress.passages / max(1, progress.of))
    line = f"{'█' * full}{'░' * (WIDTH - full)} {progress.passages:,} of {progress.of:,} passages"
    if progress.is_waiting:
        return f"{line}, waiting for another process that writes"
    if progress.left is None or not progress.rate:
        return line
    return f"{line} ({progress.rate:,.0f} a second, {duration(progress.left)} left)"


def duration(seconds: float) -> str:
    """`40 s`, `3 min` or `2.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def show_improved(figures: Mapping[str, Any]) -> None:
    """Which vectors answer now."""
    print(describe(figures))  # noqa: T201  # the command's result


def describe(figures: Mapping[str, Any]) -> str:
    """The encoder that answers, and whether a better one can."""
    line = f"{figures['passages']:,} passages are searched with the vectors of {figures['vectors']}"
    return f"{line}; `qa-bot improve` makes better ones" if figures["improvable"] else line
