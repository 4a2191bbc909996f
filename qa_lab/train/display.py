"""Terminal output of a training run: what was read, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qa_bot.terminal.sigint import check_interrupt
from qa_core.text.safe_text import clean
from qa_core.training.loop import Progress

if TYPE_CHECKING:
    from qa_lab.data.reading import TrainingData

MOST = 20
"""Rejects and notices that are shown one by one."""


def show_read(data: TrainingData[Any]) -> None:
    """Write counts, and the rejects with their places and reasons, to stderr."""
    for notice in data.notices[:MOST]:
        sys.stderr.write(clean(f"{notice.where}: {notice.message}\n"))
    for reject in data.rejects[:MOST]:
        sys.stderr.write(clean(f"{reject.where}: {reject.reason}\n"))
    if len(data.rejects) > MOST:
        sys.stderr.write(f"… and {len(data.rejects) - MOST:,} more\n")
    counts = {data.units: data.count} | {units: count for units, count in data.others.items() if count}
    counted = [f"{count:,} {one if count == 1 else many}" for (one, many), count in counts.items()]
    sys.stderr.write(f"{', '.join(counted)}, {data.repeated:,} repeated, {len(data.rejects):,} rejected\n")


@contextmanager
def progress_bar(epochs: int, *, measure: str = "MRR") -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr, and nothing unless stderr is a terminal; the listener raises KeyboardInterrupt on Ctrl-C."""
    if not sys.stderr.isatty():
        yield lambda _: check_interrupt()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(24), TextColumn("{task.description}"), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=epochs)
        figure = ""

        def report(progress: Progress) -> None:
            nonlocal figure
            check_interrupt()
            figure = f", {measure} {progress.dev:.3f}" if progress.dev is not None else figure
            finished = max(0, progress.epoch - (progress.dev is None))
            bar.update(task, completed=finished, description=describe(progress, epochs) + figure)

        yield report


def describe(progress: Progress, epochs: int) -> str:
    """Epoch, loss, examples a second and remaining time; before the first epoch, that of scored pairs."""
    left = progress.eta_seconds
    eta = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
    rate = f"{progress.examples_per_second:,.0f}"
    if not progress.epoch:
        return f"before training: {progress.step:,} pairs, {rate} pairs/s{eta}"
    return f"epoch {progress.epoch} of {epochs}, loss {progress.loss:.4f}, {rate} examples/s{eta}"
