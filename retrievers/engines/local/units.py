"""Vectors of the units of passages (sentences, list items, table rows), in bytes, memory-mapped.

    codes.npy     (U, D) int8, a number x in [−1, 1] as round(127 x): a cosine is off by about .002
    firsts.npy    (P + 1,), the first unit row of each passage
    spans.npy     (U, 2) int32, the place of each unit in the text of its passage

A passage's score is that of its best unit. Small collections are scanned whole; in large ones only the units of
candidates are read.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from qa_core.mapped_arrays import map_array
from qa_core.types import FloatArray, IntArray, Span
from retrievers.engines.local.errors import CorruptIndexError

SCALE = 127
BLOCK = 1_024
"""Rows that are multiplied at once, 1 MB as numbers. Eight times as many are no faster and take 7 MB more."""

Codes = NDArray[np.int8]


class BestUnits(NamedTuple):
    """The cosine of the best unit of each passage (n,), and its number in the passage; 0 and −1 without units."""

    scores: FloatArray
    units: IntArray


class UnitWriter:
    """Appends the units of one passage after another."""

    def __init__(self, folder: Path, dimension: int) -> None:
        folder.mkdir(parents=True)
        self._folder, self._dimension = folder, dimension
        self._firsts, self._spans = array("q", [0]), array("i")
        self._codes: BinaryIO = (folder / "codes.npy").open("wb")
        self._write_header()

    def add(self, spans: Sequence[Span], codes: Codes) -> None:
        """The units of the next passage, with their codes (n, D)."""
        assert codes.shape == (len(spans), self._dimension)
        for span in spans:
            self._spans.extend(span)
        self._firsts.append(self._firsts[-1] + len(spans))
        self._codes.write(np.ascontiguousarray(codes).tobytes())

    def close(self) -> None:
        try:
            self._codes.seek(0)
            self._write_header()
        finally:
            self._codes.close()
        np.save(self._folder / "firsts.npy", np.array(self._firsts, np.int64))
        np.save(self._folder / "spans.npy", np.array(self._spans, np.int32).reshape(-1, 2))

    def abandon(self) -> None:
        """Close the file unfinished."""
        self._codes.close()

    def _write_header(self) -> None:
        """The header reserves space for a larger count, so the codes behind it need not move."""
        shape = (self._firsts[-1], self._dimension)
        write_array_header_1_0(self._codes, {"descr": "|i1", "fortran_order": False, "shape": shape})


class Units:
    """The units of a segment, opened for reading."""

    def __init__(self, folder: Path) -> None:
        try:
            self.codes: Codes = map_array(folder / "codes.npy")
            self.firsts: IntArray = map_array(folder / "firsts.npy")
            self._spans = map_array(folder / "spans.npy")
        except (OSError, ValueError, EOFError) as error:
            raise CorruptIndexError(folder, error) from error

    def __len__(self) -> int:
        return len(self.codes)

    def spans(self, passage: int) -> list[Span]:
        """The units of a passage row, in its text."""
        rows = self._spans[self.firsts[passage] : self.firsts[passage + 1]]
        return [(int(start), int(end)) for start, end in rows]

    def of_passage(self, passage: int) -> Codes:
        """The codes (n, D) of a passage row."""
        return self.codes[self.firsts[passage] : self.firsts[passage + 1]]

    def scores(self, passage: int, query: FloatArray) -> FloatArray:
        """The cosine of each unit (n,) of a passage row with a query (D,)."""
        return _products(self.of_passage(passage), query)

    def best(self, passages: IntArray, query: FloatArray) -> BestUnits:
        """The best unit of each passage row (n,)."""
        starts = self.firsts[passages]
        counts = self.firsts[passages + 1] - starts
        offsets = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) - np.repeat(offsets - starts, counts)
        return _best(_products(self.codes, query, rows), offsets, counts)

    def best_of_all(self, query: FloatArray) -> BestUnits:
        """The best unit of every passage of the segment (P,)."""
        return _best(_products(self.codes, query), self.firsts[:-1], np.diff(self.firsts))


def quantise(vectors: FloatArray) -> Codes:
    """Unit rows (n, D) as bytes."""
    return np.rint(vectors * SCALE).astype(np.int8)


def _products(codes: Codes, query: FloatArray, rows: IntArray | None = None) -> FloatArray:
    """Inner products of all rows, or of some, with a query (D,), a block at a time.

    `einsum` computes them in this thread. The threads of BLAS wait actively, which takes forty times as long on a busy
    machine.
    """
    count = len(codes) if rows is None else len(rows)
    scores = np.empty(count, np.float32)
    scaled = query / np.float32(SCALE)
    for start in range(0, count, BLOCK):
        block = slice(start, start + BLOCK)
        chosen = codes[block] if rows is None else codes[rows[block]]
        scores[block] = np.einsum("ud,d->u", chosen.astype(np.float32), scaled)
    return scores


def _best(products: FloatArray, offsets: IntArray, counts: IntArray) -> BestUnits:
    """The first of the greatest products in each run of `counts` rows that begins at `offsets`."""
    scores, units = np.zeros(len(counts), np.float32), np.full(len(counts), -1, np.int64)
    filled = np.flatnonzero(counts)
    if len(filled):
        scores[filled] = np.maximum.reduceat(products, offsets[filled])
        owner = np.repeat(np.arange(len(counts)), counts)
        greatest = np.flatnonzero(products == scores[owner])
        owners, first = np.unique(owner[greatest], return_index=True)
        units[owners] = greatest[first] - offsets[owners]
    return BestUnits(scores, units)
