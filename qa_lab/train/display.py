"""What people see of a run: what was read, and how it is going."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qa_bot.terminal.sigint import check_interrupt
from qa_core.training.loop import Progress

if TYPE_CHECKING:
    from qa_lab.train.registry import Read

BAR = 24  # characters
MOST = 20  # rejects that are shown one by one


def show_read(read: Read) -> None:
    """Counts, and what was rejected with its place and reason, on stderr."""
    for notice in read.notices[:MOST]:
        sys.stderr.write(f"{notice.where}: {notice.message}\n")
    for reject in read.rejects[:MOST]:
        sys.stderr.write(f"{reject.where}: {reject.reason}\n")
    if len(read.rejects) > MOST:
        sys.stderr.write(f"… and {len(read.rejects) - MOST:,} more\n")
    sys.stderr.write(f"{len(read.pairs):,} pairs, {read.repeated:,} repeated, {len(read.rejects):,} rejected\n")


@contextmanager
def shown(epochs: int, *, measure: str = "MRR") -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr that is drawn over itself; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: check_interrupt()
        return
    latest = ""

    def report(progress: Progress) -> None:
        nonlocal latest
        check_interrupt()
        latest = f", {measure} {progress.dev:.3f}" if progress.dev is not None else latest
        sys.stderr.write(f"\r\x1b[K{line(progress, epochs)}{latest}")
        sys.stderr.flush()

    try:
        yield report
    finally:
        sys.stderr.write("\n")
        sys.stderr.flush()


def line(progress: Progress, epochs: int) -> str:
    """Bar, epoch, loss, pairs a second and time that is left; before the first epoch, how many pairs are done."""
    left = progress.eta_seconds
    eta = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
    rate = f"{progress.examples_per_second:,.0f} pairs/s"
    if not progress.epoch:
        return f"{'':░<{BAR}} before training: {progress.step:,} pairs, {rate}{eta}"
    done = (progress.epoch - (progress.dev is None)) / epochs
    bar = "█" * round(BAR * done)
    return f"{bar:░<{BAR}} epoch {progress.epoch} of {epochs}, loss {progress.loss:.4f}, {rate}{eta}"
