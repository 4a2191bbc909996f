"""Assigns ids to more terms than fit in memory.

Triples arrive in runs. Each run numbers and sorts its terms and writes both to disk; merging the sorted terms of all
runs gives every term its final id, independent of the runs. Within a run a small table deduplicates the terms of
consecutive triples and the sort removes the remaining duplicates: a table for the whole run would not fit the
processor's cache.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kg_index.building.line_order import Lines, Numbers, ordered
from kg_index.triples.columns import Ids

_TABLE = 1 << 15  # terms in the deduplication table, as many as fit the processor's cache
_TERM_BYTES, _ROW_BYTES = 110, 36  # memory per term and row while a run is sorted, without the characters
_MIN_BLOCK, _MAX_BLOCK = 1 << 14, 1 << 18  # bytes of a run's terms at a time; more would not fit the cache
_CONTROL = bytes(code for code in range(0x20) if code != 0x0A)


@dataclass(frozen=True, slots=True)
class Run:
    """The files of one run.

    STEM.terms        its terms in order, one per line
    STEM.triples      uint32 (n, 3), indices into the terms
    STEM.predicates   uint32, indices of the predicates
    STEM.ids          uint32, the final id of each term; written by `merge_terms`
    """

    stem: Path

    def path(self, suffix: str) -> Path:
        return self.stem.with_suffix(f".{suffix}")

    def read(self, suffix: str) -> Ids:
        return np.fromfile(self.path(suffix), np.uint32)

    def remove(self) -> None:
        for suffix in ("terms", "triples", "predicates", "ids"):
            self.path(suffix).unlink()


class RunWriter:
    """Splits a stream of triples into runs of about `memory` bytes."""

    def __init__(self, folder: Path, *, memory: int, name: str = "run") -> None:
        self.runs: list[Run] = []
        self.rows = 0
        self._folder, self._memory, self._name = folder, memory, name
        self._indices: defaultdict[str, int] = defaultdict(count().__next__)
        self._numbered = 0  # terms in `_text`, numbered before those of the table
        self._text: list[bytes] = []
        self._rows: list[Ids] = []  # each (n, 3)
        self._used = 0

    def add(self, batch: Sequence[tuple[str, str, str]]) -> None:
        before = len(self._indices)
        columns = [
            np.fromiter(map(self._indices.__getitem__, c), np.uint32, len(batch)) for c in zip(*batch, strict=True)
        ]
        rows = np.stack(columns, 1)  # (n, 3)
        rows += np.uint32(self._numbered)
        self._rows.append(rows)
        self.rows += len(batch)
        new = len(self._indices) - before
        characters = sum(map(len, islice(reversed(self._indices), new)))
        self._used += 2 * characters + new * _TERM_BYTES + len(batch) * _ROW_BYTES
        if self._used >= self._memory:
            self.flush()
        elif len(self._indices) >= _TABLE:
            self._encode()

    def flush(self) -> None:
        """Write the pending triples as a run."""
        if not self._rows:
            return
        self._encode()
        lines = Lines.of(self._text)
        self._text = []
        order, first = ordered(lines)
        indices = np.empty(len(order), np.uint32)
        indices[order] = np.cumsum(first) - 1
        run = Run(self._folder / f"{self._name}{len(self.runs)}")
        with run.path("terms").open("wb") as file:
            lines.write(file, order[first], end=True)
        rows = indices[np.concatenate(self._rows)]  # (n, 3)
        rows.tofile(run.path("triples"))
        np.unique(rows[:, 1]).tofile(run.path("predicates"))
        self.runs.append(run)
        self._rows, self._numbered, self._used = [], 0, 0

    def _encode(self) -> None:
        """Move the table's terms to the text and start a new table."""
        if self._indices:
            self._text.append(_encoded(self._indices))
            self._numbered += len(self._indices)
            self._indices = defaultdict(count().__next__)


def merge_terms(runs: Sequence[Run], text: BinaryIO, begins: BinaryIO, *, memory: int) -> tuple[int, int]:
    """Write the distinct terms of all runs, their offsets, and each run's ids; the numbers of terms and literals."""
    terms, literals, end = 0, 0, 0
    begins.write(np.zeros(1, np.uint64).tobytes())
    for lines, order in _blocks(runs, min(max(memory // (16 * max(len(runs), 1)), _MIN_BLOCK), _MAX_BLOCK)):
        starts = lines.begins[order]
        ends = np.cumsum(lines.ends[order] - starts) + end
        lines.write(text, order, end=False)
        begins.write(ends.astype(np.uint64).tobytes())
        terms, end = terms + len(order), int(ends[-1])
        literals += int(np.count_nonzero(lines.text[starts] == ord('"')))
    return terms, literals


def _blocks(runs: Sequence[Run], block: int) -> Iterator[tuple[Lines, Numbers]]:
    """Blocks of lines, in order, with the order of the distinct lines; writes the ids of the runs along the way."""
    cursors = [_Cursor(run, block) for run in runs]
    before = 0
    while any(len(cursor) for cursor in cursors):
        bound = min((cursor.last for cursor in cursors if len(cursor) and not cursor.done), default=None)
        taken = [cursor.take(bound) for cursor in cursors]
        lines = Lines.of(text for text, _ in taken)
        order, first = ordered(lines)
        ids = np.empty(len(lines), np.uint32)
        ids[order] = np.cumsum(first) - 1 + before
        sizes = [size for _, size in taken]
        for cursor, run_ids in zip(cursors, np.split(ids, np.cumsum(sizes[:-1])), strict=True):
            run_ids.tofile(cursor.ids)
        before += int(np.count_nonzero(first))
        yield lines, order[first]
    for cursor in cursors:
        cursor.close()


class _Cursor:
    """Reads the terms of a run, one block in memory."""

    def __init__(self, run: Run, block: int) -> None:
        self._block = block  # bytes of terms at a time
        self._file, self.ids = run.path("terms").open("rb"), run.path("ids").open("wb")
        self._lines, self._ahead, self._at = Lines.of([]), self._read(), 0
        self._fill()

    def __len__(self) -> int:
        return len(self._lines) - self._at

    @property
    def done(self) -> bool:
        """Whether the last block is in memory."""
        return not len(self._ahead)

    @property
    def last(self) -> bytes:
        return self._lines.line(len(self._lines) - 1)

    def take(self, bound: bytes | None) -> tuple[bytes, int]:
        """Remove and return the lines in memory up to `bound`, or all for None, and their number."""
        lines, begin = self._lines, self._at
        self._at = len(lines) if bound is None else bisect_right(range(len(lines)), bound, begin, key=lines.line)
        taken = lines.between(begin, self._at), self._at - begin
        self._fill()
        return taken

    def close(self) -> None:
        self._file.close()
        self.ids.close()

    def _fill(self) -> None:
        if not len(self):
            self._lines, self._ahead, self._at = self._ahead, self._read(), 0

    def _read(self) -> Lines:
        return Lines.of([self._file.read(self._block), self._file.readline()])


def _encoded(terms: Collection[str]) -> bytes:
    """The terms as UTF-8, one per line. Raises ValueError for a term that is not in N-Triples form."""
    text = "\n".join([*terms, ""]).encode()
    if min(terms) < '"' or len(text.translate(None, _CONTROL)) != len(text) or text.count(b"\n") != len(terms):
        odd = next(term for term in terms if term < '"' or min(term) < " ")
        raise ValueError(
            f"Expected terms as IRIs, blank nodes _:name and literals in N-Triples form, but got {odd[:80]!r}; "
            "escape control characters."
        )
    return text
