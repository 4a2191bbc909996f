"""External sorting of distinct rows: sorted runs on disk, merged block by block in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg_index.triples.columns import Ids

Keys = NDArray[Any]
_MIN_BLOCK = 256  # rows of a run in memory while runs are merged


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Packs rows of three numbers into sortable keys.

    A key has 64 bits if the `widths` (in bits) allow it, else 12 big-endian bytes, which sort four times slower.
    """

    widths: tuple[int, int, int]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.uint64) if sum(self.widths) <= 64 else np.dtype("S12")

    def pack(self, a: Ids, b: Ids, c: Ids) -> Keys:
        """Three columns (N,) to keys (N,)."""
        if self.dtype == np.uint64:
            _, second, third = (np.uint64(width) for width in self.widths)
            return (((a.astype(np.uint64) << second) | b) << third) | c
        rows = np.empty((len(a), 3), ">u4")
        rows[:, 0], rows[:, 1], rows[:, 2] = a, b, c
        return rows.view("S12").reshape(-1)

    def unpack(self, keys: Keys) -> tuple[Ids, Ids, Ids]:
        """Keys (N,) to three columns (N,)."""
        if self.dtype != np.uint64:
            rows = keys.view(">u4").reshape(-1, 3).astype(np.uint32)
            return rows[:, 0], rows[:, 1], rows[:, 2]
        _, second, third = self.widths
        a, rest = keys >> np.uint64(second + third), keys & np.uint64((1 << (second + third)) - 1)
        b, c = rest >> np.uint64(third), rest & np.uint64((1 << third) - 1)
        return a.astype(np.uint32), b.astype(np.uint32), c.astype(np.uint32)


class Sorter:
    """Sorts and deduplicates keys that arrive in any order.

    Args:
        folder: holds the runs until they have been read.
        rows: keys in memory before a run is written; about three times their bytes are in use.
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any], *, rows: int) -> None:
        self._folder, self._name, self._dtype, self._rows = folder, name, dtype, max(rows, 1)
        self._pending: list[Keys] = []
        self._count = 0
        self._runs: list[Path] = []

    def add(self, keys: Keys) -> None:
        for start in range(0, len(keys), self._rows):
            piece = keys[start : start + self._rows]
            if self._count + len(piece) > self._rows:
                self._write()
            self._pending.append(piece)
            self._count += len(piece)

    def blocks(self) -> Iterator[Keys]:
        """All distinct keys in order, block by block. Call once, after the last `add`."""
        if not self._runs:
            yield self._sorted()
            return
        self._write()
        block = max(self._rows // len(self._runs), _MIN_BLOCK)
        yield from _merged([_Run(path, self._dtype, block) for path in self._runs])
        for path in self._runs:
            path.unlink()

    def _sorted(self) -> Keys:
        keys = np.concatenate([np.empty(0, self._dtype), *self._pending])
        self._pending, self._count = [], 0
        keys.sort()
        return _distinct(keys)

    def _write(self) -> None:
        if self._count:
            path = self._folder / f"{self._name}.{len(self._runs)}"
            self._sorted().tofile(path)
            self._runs.append(path)


class _Run:
    """The sorted keys of one file, one block in memory."""

    def __init__(self, path: Path, dtype: np.dtype[Any], block: int) -> None:
        self._path, self._dtype, self._block, self._read = path, dtype, block, 0
        self._left = path.stat().st_size // dtype.itemsize
        self.buffer: Keys = np.empty(0, dtype)
        self.fill()

    @property
    def done(self) -> bool:
        """Whether the last block is in memory."""
        return not self._left

    def fill(self) -> None:
        if not len(self.buffer) and self._left:
            count = min(self._block, self._left)
            self.buffer = np.fromfile(self._path, self._dtype, count, offset=self._read * self._dtype.itemsize)
            self._read, self._left = self._read + count, self._left - count

    def take(self, bound: Any | None) -> Keys:
        """Remove and return the keys in memory up to `bound`, or all for None."""
        end = len(self.buffer) if bound is None else int(np.searchsorted(self.buffer, bound, "right"))
        taken, self.buffer = self.buffer[:end], self.buffer[end:]
        self.fill()
        return taken


def _merged(runs: list[_Run]) -> Iterator[Keys]:
    """Blocks in order. Keys up to the smallest last key of the unfinished runs are safe: no smaller key can follow."""
    while runs:
        bounds = [run.buffer[-1:] for run in runs if not run.done]
        bound = np.sort(np.concatenate(bounds))[0] if bounds else None
        keys = np.concatenate([run.take(bound) for run in runs])
        keys.sort()
        yield _distinct(keys)
        runs = [run for run in runs if len(run.buffer)]


def _distinct(keys: Keys) -> Keys:
    if len(keys) < 2:
        return keys
    first = np.empty(len(keys), bool)
    first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys if first.all() else keys[first]
