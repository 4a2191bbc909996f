"""Batches of token ids of similar length, with little padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_core.types import IntArray


def batches(lengths: Sequence[int], *, tokens: int) -> list[list[int]]:
    """Positions ordered by length, split into batches of at most `tokens` tokens, padding included."""
    result: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if not result or lengths[position] * (len(result[-1]) + 1) > tokens:
            result.append([])
        result[-1].append(position)
    return result


def padded(rows: Sequence[Sequence[int] | IntArray]) -> tuple[IntArray, IntArray]:
    """Token ids (B, T), padded with zeros, and the mask (B, T), one at real tokens; T is at least 1."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(max(1, lengths.max()))[None, :] < lengths[:, None]
    ids = np.zeros(mask.shape, dtype=np.int64)
    ids[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return ids, mask.astype(np.int64)
