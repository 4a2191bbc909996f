"""Token ids of unequal length to batches without much padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_core.types import IntArray


def batches(lengths: Sequence[int], *, tokens: int) -> list[list[int]]:
    """Positions in order of length, cut where a batch padded to its longest member would pass `tokens`."""
    result: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if not result or lengths[position] * (len(result[-1]) + 1) > tokens:
            result.append([])
        result[-1].append(position)
    return result


def padded(rows: Sequence[Sequence[int] | IntArray]) -> tuple[IntArray, IntArray]:
    """Token ids filled up with zeros, (B, T), and the mask, (B, T), one at real tokens; T is at least 1."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(max(1, lengths.max()))[None, :] < lengths[:, None]
    ids = np.zeros(mask.shape, dtype=np.int64)
    ids[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return ids, mask.astype(np.int64)
