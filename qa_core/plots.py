"""Learning curves as a table and as a picture; the one door of matplotlib, which the `plots` extra installs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from qa_core.training import Progress

HEIGHT, WIDTH = 4.0, 7.0  # inches


def write_curve(path: Path, history: Sequence[Progress]) -> None:
    """Progress as CSV, a row a report, columns as the fields of `Progress`; absent values are empty cells."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if history:
            table.writerow(field.name for field in fields(history[0]))
        table.writerows(asdict(progress).values() for progress in history)


def draw_curve(path: Path, history: Sequence[Progress], *, measure: str = "development") -> None:
    """Loss, and the development measure against it, over steps as PNG; without matplotlib a ModuleNotFoundError."""
    figure = _figure()
    losses = figure.add_subplot(xlabel="step", ylabel="loss")
    losses.plot([p.step for p in history], [p.loss for p in history], color="tab:blue", label="loss")
    evaluated = [(p.step, p.dev) for p in history if p.dev is not None]
    if evaluated:
        measured = losses.twinx()
        measured.set_ylabel(measure)
        measured.plot(*zip(*evaluated, strict=True), color="tab:orange", marker="o", label=measure)
    figure.legend(loc="upper center", ncols=2)
    figure.savefig(path, format="png", dpi=120)


def _figure() -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ModuleNotFoundError(
            "Expected matplotlib to draw a learning curve, but it is not installed; do: pip install 'qa-bot[plots]'"
        ) from None
    return Figure(figsize=(WIDTH, HEIGHT))
