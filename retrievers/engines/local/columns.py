"""Files of numbers and of byte strings that are written piece by piece, and read memory-mapped."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from qa_core.mapped_arrays import map_array

COLUMN_BUFFER = 4096  # numbers


class Column:
    """Appends integers to an `.npy` file, whose header is rewritten at the end with their count."""

    def __init__(self, path: Path, kind: type[np.signedinteger[Any]] = np.int64) -> None:
        self._kind, self._buffer, self._written = np.dtype(kind), array("q"), 0
        self._file = path.open("wb")
        self._write_header()

    def __len__(self) -> int:
        return self._written + len(self._buffer)

    def append(self, number: int) -> None:
        self._buffer.append(number)
        if len(self._buffer) == COLUMN_BUFFER:
            self._flush()

    def close(self) -> None:
        try:
            self._flush()
            self._file.seek(0)
            self._write_header()
        finally:
            self._file.close()

    def _flush(self) -> None:
        self._file.write(np.array(self._buffer, self._kind).data)
        self._written += len(self._buffer)
        del self._buffer[:]

    def _write_header(self) -> None:
        """The header reserves space for a larger count, so the numbers behind it need not move."""
        header = {"descr": self._kind.str, "fortran_order": False, "shape": (self._written,)}
        write_array_header_1_0(self._file, header)


class Blob:
    """Appends byte strings to one file, and the end of each to another."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = (folder / f"{name}s.bin").open("wb")
        self._ends = Column(folder / f"{name}_ends.npy")
        self._ends.append(0)
        self._end = 0

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._end += len(data)
        self._ends.append(self._end)

    def close(self) -> None:
        try:
            self._file.close()
        finally:
            self._ends.close()


def _mapped(path: Path) -> NDArray[np.uint8]:
    return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, np.uint8)


@dataclass(frozen=True, slots=True)
class Slices:
    """The byte strings of a `Blob`, mapped; a memory view gives one slice much faster than an array does."""

    data: memoryview
    ends: memoryview  # integers: 0, then the end of each slice

    @classmethod
    def open(cls, folder: Path, name: str) -> Self:
        ends = np.ascontiguousarray(map_array(folder / f"{name}_ends.npy"), np.int64)
        return cls(_mapped(folder / f"{name}s.bin").data, ends.data)

    def __getitem__(self, row: int) -> memoryview:
        return self.data[self.ends[row] : self.ends[row + 1]]
