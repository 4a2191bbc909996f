"""Sorting more rows than memory holds: sorted runs on disk, merged block by block in numpy; equal rows become one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg_index.triples.columns import Ids

Keys = NDArray[Any]
_LEAST_BLOCK = 256  # rows of a run that are held while it is merged


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Rows of three numbers as one sortable key each: 64 bits where their `widths` (in bits) allow it, else 12 bytes
    with the highest first, which sort alike but four times slower."""

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
    """Takes keys in any order and gives the distinct ones in order.

    Args:
        folder: where runs lie meanwhile; they are removed when they have been read.
        rows: keys held in memory before a run is written; about three times their bytes are in use.
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any], *, rows: int) -> None:
        self._folder, self._name, self._dtype, self._rows = folder, name, dtype, max(rows, 1)
        self._held: list[Keys] = []
        self._count = 0
        self._runs: list[Path] = []

    def add(self, keys: Keys) -> None:
        for start in range(0, len(keys), self._rows):
            piece = keys[start : start + self._rows]
            if self._count + len(piece) > self._rows:
                self._write()
            self._held.append(piece)
            self._count += len(piece)

    def blocks(self) -> Iterator[Keys]:
        """Ends the sorting; each block follows the one before."""
        if not self._runs:
            yield self._taken()
            return
        self._write()
        block = max(self._rows // len(self._runs), _LEAST_BLOCK)
        yield from _merged([_Run(path, self._dtype, block) for path in self._runs])
        for path in self._runs:
            path.unlink()

    def _taken(self) -> Keys:
        keys = np.concatenate([np.empty(0, self._dtype), *self._held])
        self._held, self._count = [], 0
        keys.sort()
        return _distinct(keys)

    def _write(self) -> None:
        if self._count:
            path = self._folder / f"{self._name}.{len(self._runs)}"
            self._taken().tofile(path)
            self._runs.append(path)


class _Run:
    """The sorted keys of one file, of which a block is held."""

    def __init__(self, path: Path, dtype: np.dtype[Any], block: int) -> None:
        self._path, self._dtype, self._block, self._read = path, dtype, block, 0
        self._left = path.stat().st_size // dtype.itemsize
        self.held: Keys = np.empty(0, dtype)
        self.fill()

    @property
    def done(self) -> bool:
        """Whether nothing follows what is held."""
        return not self._left

    def fill(self) -> None:
        if not len(self.held) and self._left:
            count = min(self._block, self._left)
            self.held = np.fromfile(self._path, self._dtype, count, offset=self._read * self._dtype.itemsize)
            self._read, self._left = self._read + count, self._left - count

    def take(self, bound: Any | None) -> Keys:
        """The held keys up to `bound`, all of them for None."""
        end = len(self.held) if bound is None else int(np.searchsorted(self.held, bound, "right"))
        taken, self.held = self.held[:end], self.held[end:]
        self.fill()
        return taken


def _merged(runs: list[_Run]) -> Iterator[Keys]:
    """Whatever is not above the last held key of any unfinished run can be given out: nothing smaller can follow."""
    while runs:
        bounds = [run.held[-1:] for run in runs if not run.done]
        bound = np.sort(np.concatenate(bounds))[0] if bounds else None
        keys = np.concatenate([run.take(bound) for run in runs])
        keys.sort()
        yield _distinct(keys)
        runs = [run for run in runs if len(run.held)]


def _distinct(keys: Keys) -> Keys:
    if len(keys) < 2:
        return keys
    kept = np.empty(len(keys), bool)
    kept[0] = True
    np.not_equal(keys[1:], keys[:-1], out=kept[1:])
    return keys if kept.all() else keys[kept]
