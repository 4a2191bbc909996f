"""Errors of two scorers of phrase pairs by gold band, length ratio and overlap ratio (Wieting et al. 2015, §7).

A scorer's values are stretched to the range of the gold; its error is the absolute difference. Words are equivalent if
they are equal or a lexical pair of the database.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.data.phrases.string_similarity import length_ratio, overlap

Errors = NDArray[np.float64]
WordPairs = Collection[tuple[str, str]]

BANDS = 4
THIRDS = 3
EXTREME = 0.25
"""Share of the gold's scale that counts as clearly negative at its lower end, and clearly positive at its upper."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean absolute errors of the two scorers on pairs of one kind; NaN without pairs."""

    name: str
    pairs: int
    first: float
    second: float

    @property
    def change(self) -> float:
        """Change from the first error to the second, in per cent; negative if the second is better."""
        return 100 * (self.second / self.first - 1) if self.pairs and self.first else float("nan")


@dataclass(frozen=True, slots=True)
class Analysis:
    """Tables of cells; `names` are the two scorers."""

    names: tuple[str, str]
    bands: tuple[Cell, ...]
    length: tuple[Cell, ...]
    overlap: tuple[Cell, ...]

    def text(self) -> str:
        """Markdown."""
        parts = {"gold": self.bands, "length ratio": self.length, "overlap ratio": self.overlap}
        lines = [f"| | pairs | {self.names[0]} | {self.names[1]} | change |", "| --- | --- | --- | --- | --- |"]
        for title, cells in parts.items():
            lines += [f"| {title} {_cell_text(cell)} |" for cell in cells if cell.pairs]
        return "\n".join(lines)


def _cell_text(cell: Cell) -> str:
    change = f"{cell.change:+.1f} %" if math.isfinite(cell.change) else "–"
    return " | ".join([cell.name, str(cell.pairs), f"{cell.first:.2f}", f"{cell.second:.2f}", change])


def analysed(
    pairs: Sequence[Phrased],
    first: tuple[str, Sequence[float]],
    second: tuple[str, Sequence[float]],
    *,
    equivalent: WordPairs = (),
) -> Analysis:
    """Compare two named scorers on pairs with gold.

    Args:
        equivalent: pairs of words that count as equal, in either order.

    Raises:
        ValueError: if all gold scores are equal.
    """
    gold = np.array([pair.gold or 0.0 for pair in pairs])
    low, high = gold.min(), gold.max()
    if low == high:
        raise ValueError(f"Expected pairs with different human scores, but got {len(pairs)} of score {low:g}.")
    errors = (absolute_errors(first[1], gold), absolute_errors(second[1], gold))
    scaled = (gold - low) / (high - low)
    kinds = {"positive": scaled >= 1 - EXTREME, "negative": scaled <= EXTREME}
    kinds["both"] = kinds["positive"] | kinds["negative"]
    same = {frozenset(pair) for pair in equivalent}
    lengths = np.array([length_ratio(pair.left.tokens, pair.right.tokens) for pair in pairs])
    overlaps = np.array([equivalent_overlap(pair, same) for pair in pairs])
    return Analysis(
        names=(first[0], second[0]),
        bands=tuple(_cells(scaled, low + np.linspace(0, 1, BANDS + 1) * (high - low), "", errors, scaled >= 0)),
        length=tuple(_by_kind(lengths, lengths.min(), kinds, errors)),
        overlap=tuple(_by_kind(overlaps, 0.0, kinds, errors)),
    )


def absolute_errors(scores: Sequence[float], gold: NDArray[np.float64]) -> Errors:
    """`|y − ŷ|` (P,), with scores stretched to the range of the gold."""
    values = np.asarray(scores, dtype=np.float64)
    spread = np.ptp(values)
    stretched = (values - values.min()) / spread if spread else np.full(len(values), 0.5)
    errors: Errors = np.abs(gold.min() + stretched * np.ptp(gold) - gold)
    return errors


def equivalent_overlap(pair: Phrased, same: Collection[frozenset[str]]) -> float:
    """The share of the shorter phrase's words that have an equivalent in the longer one."""
    return overlap(pair.left.tokens, pair.right.tokens, lambda a, b: a == b or frozenset((a, b)) in same)


def _by_kind(
    values: NDArray[np.float64], low: float, kinds: dict[str, NDArray[np.bool_]], errors: tuple[Errors, Errors]
) -> Iterable[Cell]:
    """Thirds of the range from `low` to 1, for each kind of pair."""
    edges = np.linspace(low, 1, THIRDS + 1)
    scaled = (values - low) / (1 - low) if low < 1 else np.ones(len(values))
    for kind, chosen in kinds.items():
        yield from _cells(scaled, edges, f", {kind}", errors, chosen)


def _cells(
    scaled: NDArray[np.float64],
    edges: NDArray[np.float64],
    suffix: str,
    errors: tuple[Errors, Errors],
    chosen: NDArray[np.bool_],
) -> Iterable[Cell]:
    """Equal bins of [0, 1], closed above (the first below too), named by their edges."""
    count = len(edges) - 1
    bins = np.clip(np.ceil(scaled * count - 1e-9).astype(int) - 1, 0, count - 1)
    for number in range(count):
        inside = (bins == number) & chosen
        size = int(inside.sum())
        means = [float(of[inside].mean()) if size else float("nan") for of in errors]
        opening = "[" if number == 0 else "("
        yield Cell(f"{opening}{edges[number]:.2f}, {edges[number + 1]:.2f}]{suffix}", size, means[0], means[1])
