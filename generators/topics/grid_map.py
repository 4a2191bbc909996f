"""A counting grid to show: the most characteristic words of each cell, and the posterior of a hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qa_core.measures.plots import draw_word_grid
from qa_core.types import FloatArray


@dataclass(frozen=True, slots=True)
class GridMap:
    """What the page draws and users click on."""

    height: int
    width: int
    window: int
    words: tuple[tuple[str, ...], ...]  # (E,), of each cell, row-major, the most characteristic first
    hint: str = ""
    posterior: FloatArray | None = None  # (E,), p(k | hint)
    notice: str | None = None  # why the hint has no effect

    def window_words(self, cell: int, count: int = 8) -> tuple[str, ...]:
        """Words of a cell and then of its window, nearest first: a hint whose posterior is there.

        Raises IndexError for a cell outside the grid.
        """
        if not 0 <= cell < len(self.words):
            raise IndexError(f"Expected a cell from 0 to {len(self.words) - 1}, but got {cell}.")
        row, column = divmod(cell, self.width)
        before = (self.window - 1) // 2
        reach = range(-before, self.window - before)
        steps = sorted(
            ((down, right) for down in reach for right in reach), key=lambda step: step[0] ** 2 + step[1] ** 2
        )
        cells = [(row + down) % self.height * self.width + (column + right) % self.width for down, right in steps]
        return tuple(dict.fromkeys(word for near in cells for word in self.words[near]))[:count]

    def draw(self, path: Path) -> None:
        """Write the words in their cells, shaded by the hint's posterior, as PNG; needs the plots extra."""
        draw_word_grid(path, self.words, width=self.width, shares=self.posterior, title=self.hint)

    def as_dict(self) -> dict[str, object]:
        """For JSON; probabilities to six digits."""
        payload: dict[str, object] = {"height": self.height, "width": self.width, "window": self.window}
        payload["cells"] = [list(words) for words in self.words]
        if self.posterior is not None:
            shares = np.round(self.posterior.astype(np.float64), 6).tolist()
            payload |= {"hint": self.hint, "posterior": shares, "notice": self.notice}
        return payload


def cell_words(cells: NDArray[np.floating], tokens: Sequence[str], count: int) -> tuple[tuple[str, ...], ...]:
    """The `count` best words of each cell by scores (V, E); equal ones in the order of the vocabulary."""
    count = min(count, len(tokens))
    best = np.argpartition(-cells, max(count - 1, 0), axis=0)[:count]  # (count, E)
    best.sort(axis=0)
    order = np.argsort(-np.take_along_axis(cells, best, axis=0), axis=0, kind="stable")
    rows: list[list[int]] = np.take_along_axis(best, order, axis=0).T.tolist()
    return tuple(tuple(str(tokens[number]) for number in row) for row in rows)
