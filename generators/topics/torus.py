"""Sums over windows of a torus by summed-area tables (Crow 1984)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def window_sums(
    values: NDArray[np.floating], shape: tuple[int, int], window: int, *, backwards: bool = False
) -> NDArray[np.float64]:
    """Of each row, the sum over the window around every cell: h_k = Σ_{i ∈ W_k} v_i, W_k centred on k.

    A window of even width reaches one cell further down and right.

    Args:
        values: (N, E), row-major over the torus, E = height · width.
        shape: height and width, neither below the window.
        backwards: over the cells whose window has this cell instead: Σ_{k: i ∈ W_k} v_k, the transpose.

    Returns:
        (N, E)
    """
    height, width = shape
    before = (window - 1) // 2
    after = window - 1 - before
    if backwards:
        before, after = after, before
    # one more row and column of zeros before all, so that every sum is a difference of four corners
    table = np.zeros((len(values), height + window, width + window))  # (N, H + w, W + w)
    torus = values.reshape(-1, height, width)
    table[:, 1:, 1:] = np.pad(torus, ((0, 0), (before, after), (before, after)), mode="wrap")
    np.cumsum(table, axis=1, out=table)
    np.cumsum(table, axis=2, out=table)
    sums = table[:, window:, window:] - table[:, :-window, window:] - table[:, window:, :-window]
    sums += table[:, :-window, :-window]
    # a difference of sums may fall a rounding error below nothing
    return np.maximum(sums, 0.0).reshape(len(values), -1)
