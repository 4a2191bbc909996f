"""The cells of a counting grid in their saved form: only the shares above 0 of each word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SparseCells:
    """π (V, E), row by row. M shares in all."""

    starts: NDArray[np.integer]  # (V + 1,), where the shares of each word begin, and at last M
    indices: NDArray[np.integer]  # (M,), cells
    shares: FloatArray  # (M,)
    width: int  # E

    @classmethod
    def of(cls, cells: FloatArray) -> Self:
        """Of dense cells (V, E)."""
        words, indices = np.nonzero(cells)
        starts = np.searchsorted(words, np.arange(len(cells) + 1))
        return cls(starts, indices.astype(np.int32), cells[words, indices], cells.shape[1])

    @classmethod
    def checked(cls, weights: Mapping[str, NDArray[Any]], size: int, width: int) -> Self:
        """Of saved arrays for `size` words; raises KeyError, ValueError or IndexError if they do not fit."""
        starts, indices, shares = weights["starts"], weights["places"], weights["shares"]
        if len(starts) != size + 1 or starts[-1] != len(shares) or len(indices) != len(shares):
            raise ValueError(f"{len(starts) - 1} words instead of {size}")
        if len(indices) and not 0 <= indices.min() <= indices.max() < width:
            raise IndexError(f"cells out of bounds, among {width} of them")
        if not np.allclose(np.bincount(indices, weights=shares, minlength=width), 1, atol=1e-3):
            raise ValueError(f"cells whose words do not sum to 1, among {width} of them")
        return cls(starts, indices, shares, width)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, words: IntArray) -> FloatArray:
        """Dense cells (N, E) of words (N,)."""
        cells = np.zeros((len(words), self.width), dtype=np.float32)
        for row, word in enumerate(words.tolist()):
            part = slice(self.starts[word], self.starts[word + 1])
            cells[row, self.indices[part]] = self.shares[part]
        return cells
