"""Vectorised binary search: many keys at once, each in a separate sorted range of one column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kg_index.triples.columns import Ids
from qa_core.types import IntArray


class Groups(NamedTuple):
    """Results of many lookups: those of the i-th are `values[bounds[i] : bounds[i + 1]]`."""

    values: IntArray  # (M,)
    bounds: IntArray  # (N + 1,)

    def __getitem__(self, i: int) -> IntArray:  # type: ignore[override]  # a group, not a field
        return self.values[self.bounds[i] : self.bounds[i + 1]]


def equal_ranges(column: Ids, keys: IntArray, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Begin and end (N,) of the rows equal to each key (N,), within the rows `first` to `last` (exclusive)."""
    begin = _bisect(column, keys, first, last)
    return begin, _bisect(column, keys + 1, begin, last)


def gather(column: Ids, first: IntArray, last: IntArray) -> Groups:
    """The rows `first` to `last` (exclusive) of each range, concatenated."""
    lengths = last - first
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(first - bounds[:-1], lengths) + np.arange(bounds[-1])
    return Groups(column[rows].astype(np.int64), bounds)


def _bisect(column: Ids, keys: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The first row (N,) of each range whose value is not below the key."""
    first, last = first.copy(), last.copy()
    widest = int((last - first).max(initial=0))
    for _ in range(widest.bit_length()):
        middle = (first + last) >> 1
        open_ = first < last
        below = open_ & (column[np.minimum(middle, len(column) - 1)] < keys)
        first = np.where(below, middle + 1, first)
        last = np.where(open_ & ~below, middle, last)
    return first
