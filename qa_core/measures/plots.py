"""Plots as PNG: learning curves, histograms, lines, bars, points and grids; learning curves also as CSV.

The only file that imports matplotlib, which the extra `plots` installs.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from qa_core.training.loop import Progress
    from qa_core.types import FloatArray

HEIGHT, WIDTH = 4.0, 7.0  # inches
CELL_WIDTH, CELL_LINE = 0.65, 0.09  # inches, width of a cell with words and height of a line


def write_curve(path: Path, history: Sequence[Progress]) -> None:
    """Progress as CSV: a row per report, a column per field of `Progress`; absent values are empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if history:
            table.writerow(field.name for field in fields(history[0]))
        table.writerows(asdict(progress).values() for progress in history)


def draw_curve(path: Path, history: Sequence[Progress], *, measure: str = "development") -> None:
    """Loss and development measure over steps. Raises ModuleNotFoundError without matplotlib."""
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


def draw_histograms(path: Path, groups: Mapping[str, FloatArray], *, label: str, bins: int = 40) -> None:
    """Overlaid histograms of the numbers (N,) of each group, as shares."""
    figure = _figure()
    axes = figure.add_subplot(xlabel=label, ylabel="share")
    every = [number for numbers in groups.values() for number in numbers.tolist()]
    limits = (min(every, default=0.0), max(every, default=1.0))
    for name, numbers in groups.items():
        if len(numbers):
            axes.hist(
                numbers, bins=bins, range=limits, weights=[1 / len(numbers)] * len(numbers), alpha=0.6, label=name
            )
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    figure.savefig(path, format="png", dpi=120)


def draw_neighbours(path: Path, groups: Mapping[str, FloatArray], *, dimensions: int = 2, seed: int = 0) -> None:
    """Points (N, D) in two or three dimensions by t-SNE (van der Maaten and Hinton 2008), a colour per group.

    The same seed gives the same picture.
    """
    figure = _figure()
    axes = figure.add_subplot(projection="3d") if dimensions == 3 else figure.add_subplot()
    sizes = [len(points) for points in groups.values()]
    projected = _tsne(np.concatenate(list(groups.values())), dimensions, seed)
    for name, points in zip(groups, np.split(projected, np.cumsum(sizes)[:-1]), strict=True):
        axes.plot(*points.T, linestyle="none", marker="o", markersize=3, alpha=0.7, label=name)
    axes.legend()
    figure.savefig(path, format="png", dpi=120)


def draw_lines(
    path: Path,
    lines: Mapping[str, tuple[NDArray[np.floating], NDArray[np.floating]]],
    *,
    x: str,
    y: str,
    marked: bool = False,
    diagonal: bool = False,
) -> None:
    """A named line through each set of points: abscissas (N,) and ordinates (N,) in [0, 1].

    Args:
        x, y: labels of the axes.
        marked: mark every point with a dot.
        diagonal: also draw y = x.
    """
    figure = _figure()
    axes = figure.add_subplot(xlabel=x, ylabel=y, xlim=(0, 1), ylim=(0, 1))
    if diagonal:
        axes.plot((0, 1), (0, 1), color="grey", linestyle=":")
    for name, (across, up) in lines.items():
        axes.plot(across, up, marker="o" if marked else "", label=_plain(name))
    if lines:
        axes.legend()
    figure.savefig(path, format="png", dpi=120)


def draw_bands(
    path: Path,
    lines: Mapping[str, tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]],
    *,
    x: str,
    y: str,
) -> None:
    """A named line through abscissas (N,) and means (N,), with a shaded band of ± spread (N,)."""
    figure = _figure()
    axes = figure.add_subplot(xlabel=x, ylabel=y)
    for name, (across, mean, spread) in lines.items():
        (line,) = axes.plot(across, mean, marker="o", markersize=3, label=_plain(name))
        axes.fill_between(across, mean - spread, mean + spread, color=line.get_color(), alpha=0.15, linewidth=0)
    if lines:
        axes.legend(fontsize="small")
    figure.savefig(path, format="png", dpi=120)


def draw_bars(path: Path, rows: Mapping[str, float], *, label: str) -> None:
    """A bar per row, the first at the top."""
    figure = _figure()
    figure.set_layout_engine("constrained")  # makes room for long names
    axes = figure.add_subplot(xlabel=label)
    names = list(rows)[::-1]
    axes.barh(range(len(names)), [rows[name] for name in names], color="tab:blue")
    axes.set_yticks(range(len(names)), names)
    figure.savefig(path, format="png", dpi=120)


def draw_word_grid(
    path: Path, words: Sequence[Sequence[str]], *, width: int, shares: FloatArray | None = None, title: str = ""
) -> None:
    """A grid of cells, row by row, each with its words on separate lines; `shares` (E,) shade the cells."""
    rows, lines = len(words) // width, max(map(len, words), default=1)
    figure = _figure()
    figure.set_size_inches(max(WIDTH, CELL_WIDTH * width), max(HEIGHT, CELL_LINE * (lines + 1) * rows))
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.96), title=_plain(title), xticks=(), yticks=())
    shaded = np.zeros((rows, width)) if shares is None else np.sqrt(shares.reshape(rows, width))
    # square roots, so that smaller shares are visible too
    axes.imshow(shaded, cmap="Oranges", vmin=0, vmax=max(1.5 * float(shaded.max()), 1e-9), aspect="auto")
    for i, cell in enumerate(words):
        axes.text(i % width, i // width, _plain("\n".join(cell)), ha="center", va="center", fontsize=5)
    figure.savefig(path, format="png", dpi=120)


def draw_differences(path: Path, rows: Mapping[str, Sequence[float]], columns: Sequence[str]) -> None:
    """A grid of differences (R, C), red below 0 and blue above, each with its number; nan is left empty."""
    figure = _figure()
    figure.set_layout_engine("constrained")  # makes room for long names
    figure.set_size_inches(2.5 + 0.7 * len(columns), 1.5 + 0.35 * len(rows))
    axes = figure.add_subplot()
    values = np.array(list(rows.values()), np.float64).reshape(len(rows), len(columns))
    most = max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9)
    axes.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(columns)), map(_plain, columns), rotation=45, ha="right")
    axes.set_yticks(range(len(rows)), map(_plain, rows))
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if abs(value) > 0.6 * most else "black"
            axes.text(column, row, f"{value:+.3f}", ha="center", va="center", fontsize=6, color=colour)
    figure.savefig(path, format="png", dpi=120)


def _plain(text: str) -> str:
    """Text with escaped dollar signs, which start formulas in matplotlib."""
    return text.replace("$", r"\$")


def _tsne(points: FloatArray, dimensions: int, seed: int) -> NDArray[np.floating]:
    if len(points) < 4:
        return points[:, :dimensions]
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(points) - 1) / 3)
    return TSNE(dimensions, perplexity=perplexity, random_state=seed).fit_transform(points)  # type: ignore[no-any-return] # untyped


def _figure() -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ModuleNotFoundError(
            "Expected matplotlib to draw pictures, but it is not installed; run: pip install 'qa-bot[plots]'"
        ) from None
    return Figure(figsize=(WIDTH, HEIGHT))
