"""Numbers for terms when there are more of them than memory holds.

Triples are taken in runs; each run numbers its own terms, sorts them, and writes both to disk. Merging the sorted terms
of all runs gives every term its place among all, whatever the runs were. Terms of few triples after another are told
apart by a small table: one over a whole run is out of the processor's cache, and the sorting finds the rest.
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

_TABLE = 1 << 15  # terms that are told apart at once, as many as the processor's cache holds
_TERM_BYTES, _ROW_BYTES = 110, 36  # in memory while a run is sorted, beside the terms' characters
_SMALLEST, _LARGEST = 1 << 14, 1 << 18  # bytes of a run's terms at a time; larger ones are out of the processor's cache
_CONTROL = bytes(code for code in range(0x20) if code != 0x0A)


@dataclass(frozen=True, slots=True)
class Run:
    """Files of one run, STEM.terms: its terms in order, a line each; .triples: (n, 3) by the places of these;
    .predicates: the places of predicates; .ids: later on, the ids by place."""

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
        self._places: defaultdict[str, int] = defaultdict(count().__next__)
        self._numbered = 0  # terms in the text, before those of the table
        self._text: list[bytes] = []
        self._rows: list[Ids] = []  # each (n, 3)
        self._used = 0

    def add(self, batch: Sequence[tuple[str, str, str]]) -> None:
        before = len(self._places)
        columns = [
            np.fromiter(map(self._places.__getitem__, c), np.uint32, len(batch)) for c in zip(*batch, strict=True)
        ]
        rows = np.stack(columns, 1)  # (n, 3)
        rows += np.uint32(self._numbered)
        self._rows.append(rows)
        self.rows += len(batch)
        new = len(self._places) - before
        characters = sum(map(len, islice(reversed(self._places), new)))
        self._used += 2 * characters + new * _TERM_BYTES + len(batch) * _ROW_BYTES
        if self._used >= self._memory:
            self.flush()
        elif len(self._places) >= _TABLE:
            self._encode()

    def flush(self) -> None:
        """Write what is held as a run."""
        if not self._rows:
            return
        self._encode()
        lines = Lines.of(self._text)
        self._text = []
        order, first = ordered(lines)
        places = np.empty(len(order), np.uint32)
        places[order] = np.cumsum(first) - 1
        run = Run(self._folder / f"{self._name}{len(self.runs)}")
        with run.path("terms").open("wb") as file:
            lines.write(file, order[first], end=True)
        rows = places[np.concatenate(self._rows)]  # (n, 3)
        rows.tofile(run.path("triples"))
        np.unique(rows[:, 1]).tofile(run.path("predicates"))
        self.runs.append(run)
        self._rows, self._numbered, self._used = [], 0, 0

    def _encode(self) -> None:
        """Take the table's terms to the text; a new table is begun."""
        if self._places:
            self._text.append(_lines(self._places))
            self._numbered += len(self._places)
            self._places = defaultdict(count().__next__)


def merge_terms(runs: Sequence[Run], text: BinaryIO, begins: BinaryIO, *, memory: int) -> tuple[int, int]:
    """Write the distinct terms of all runs and where they begin, and each run's ids; how many terms and literals."""
    terms, literals, end = 0, 0, 0
    begins.write(np.zeros(1, np.uint64).tobytes())
    for lines, order in _blocks(runs, min(max(memory // (16 * max(len(runs), 1)), _SMALLEST), _LARGEST)):
        starts = lines.begins[order]
        ends = np.cumsum(lines.ends[order] - starts) + end
        lines.write(text, order, end=False)
        begins.write(ends.astype(np.uint64).tobytes())
        terms, end = terms + len(order), int(ends[-1])
        literals += int(np.count_nonzero(lines.text[starts] == ord('"')))
    return terms, literals


def _blocks(runs: Sequence[Run], block: int) -> Iterator[tuple[Lines, Numbers]]:
    """Lines and the order of the distinct ones; each block follows the one before.

    The ids of the runs are written along the way.
    """
    merging = [_Merging(run, block) for run in runs]
    before = 0
    while any(len(one) for one in merging):
        bound = min((one.last for one in merging if len(one) and not one.done), default=None)
        taken = [one.take(bound) for one in merging]
        lines = Lines.of(text for text, _ in taken)
        order, first = ordered(lines)
        ids = np.empty(len(lines), np.uint32)
        ids[order] = np.cumsum(first) - 1 + before
        sizes = [size for _, size in taken]
        for one, own in zip(merging, np.split(ids, np.cumsum(sizes[:-1])), strict=True):
            own.tofile(one.ids)
        before += int(np.count_nonzero(first))
        yield lines, order[first]
    for one in merging:
        one.close()


class _Merging:
    """The lines of a run, of which a block is held."""

    def __init__(self, run: Run, block: int) -> None:
        self._block = block  # bytes of terms at a time
        self._file, self.ids = run.path("terms").open("rb"), run.path("ids").open("wb")
        self._held, self._ahead, self._at = Lines.of([]), self._read(), 0
        self._fill()

    def __len__(self) -> int:
        return len(self._held) - self._at

    @property
    def done(self) -> bool:
        """Whether nothing follows what is held."""
        return not len(self._ahead)

    @property
    def last(self) -> bytes:
        return self._held.line(len(self._held) - 1)

    def take(self, bound: bytes | None) -> tuple[bytes, int]:
        """The held lines up to `bound`, all of them for None, and how many these are."""
        held, begin = self._held, self._at
        places = range(len(held))
        self._at = len(held) if bound is None else bisect_right(places, bound, begin, key=held.line)
        found = held.between(begin, self._at), self._at - begin
        self._fill()
        return found

    def close(self) -> None:
        self._file.close()
        self.ids.close()

    def _fill(self) -> None:
        if not len(self):
            self._held, self._ahead, self._at = self._ahead, self._read(), 0

    def _read(self) -> Lines:
        return Lines.of([self._file.read(self._block), self._file.readline()])


def _lines(terms: Collection[str]) -> bytes:
    text = "\n".join([*terms, ""]).encode()
    if min(terms) < '"' or len(text.translate(None, _CONTROL)) != len(text) or text.count(b"\n") != len(terms):
        odd = next(term for term in terms if term < '"' or min(term) < " ")
        raise ValueError(
            f"Expected terms as IRIs, blank nodes _:name and literals in N-Triples form, but got {odd[:80]!r}; "
            "escape control characters."
        )
    return text
