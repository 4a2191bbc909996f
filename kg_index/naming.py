"""Numbers for terms when there are more of them than memory holds.

Triples are taken in runs; each run numbers its own terms, sorts them, and writes both to disk. Merging the sorted terms
of all runs gives every term its place among all, whatever the runs were.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kg_index.columns import Ids

_TERM_BYTES = 400  # of a term in memory besides its characters: string, table entry, its line when the run is sorted
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
        self._reset()

    def add(self, batch: Sequence[tuple[str, str, str]]) -> None:
        before = len(self._places)
        columns = [
            np.fromiter(map(self._places.__getitem__, c), np.uint32, len(batch)) for c in zip(*batch, strict=True)
        ]
        self._rows.append(np.stack(columns, 1))  # (n, 3)
        self.rows += len(batch)
        new = len(self._places) - before
        self._used += sum(map(len, islice(reversed(self._places), new))) * 2 + new * _TERM_BYTES + len(batch) * 24
        if self._used >= self._memory:
            self.flush()

    def flush(self) -> None:
        """Write what is held as a run."""
        if not self._rows:
            return
        lines = [f"{term}\n".encode() for term in self._places]
        order = sorted(range(len(lines)), key=lines.__getitem__)
        run = Run(self._folder / f"{self._name}{len(self.runs)}")
        _write_lines(run.path("terms"), [lines[i] for i in order])
        places = np.empty(len(order), np.uint32)
        places[order] = np.arange(len(order), dtype=np.uint32)
        rows = places[np.concatenate(self._rows)]  # (n, 3)
        rows.tofile(run.path("triples"))
        np.unique(rows[:, 1]).tofile(run.path("predicates"))
        self.runs.append(run)
        self._reset()

    def _reset(self) -> None:
        self._places: defaultdict[str, int] = defaultdict(count().__next__)
        self._rows: list[Ids] = []
        self._used = 0


def merge_terms(runs: Sequence[Run], text: BinaryIO, begins: BinaryIO, *, memory: int) -> tuple[int, int]:
    """Write the distinct terms of all runs and where they begin, and each run's ids; how many terms and literals."""
    terms, literals, end = 0, 0, 0
    begins.write(np.zeros(1, np.uint64).tobytes())
    for lines in _blocks(runs, min(max(memory // (16 * max(len(runs), 1)), _SMALLEST), _LARGEST)):
        lengths = np.fromiter(map(len, lines), np.uint64, len(lines)) - np.uint64(1)
        text.write(b"".join(lines).replace(b"\n", b""))
        begins.write((np.cumsum(lengths, dtype=np.uint64) + np.uint64(end)).tobytes())
        terms, end = terms + len(lines), end + int(lengths.sum())
        literals += bisect_right(lines, b'"\xff')
    return terms, literals


def _blocks(runs: Sequence[Run], block: int) -> Iterator[list[bytes]]:
    """Distinct lines in order, in blocks; the ids of the runs are written along the way."""
    merging = [_Merging(run, block) for run in runs]
    first = 0
    while any(one.held for one in merging):
        bound = min((one.held[-1] for one in merging if one.held and not one.done), default=None)
        taken = [one.take(bound) for one in merging]
        lines = taken[0] if len(taken) == 1 else list(dict.fromkeys(sorted(chain.from_iterable(taken))))
        ids = dict(zip(lines, count(first))) if len(taken) > 1 else {}  # the count never ends
        for one, own in zip(merging, taken, strict=True):
            found = map(ids.__getitem__, own) if ids else range(first, first + len(own))
            one.ids.write(np.fromiter(found, np.uint32, len(own)).tobytes())
        first += len(lines)
        yield lines
    for one in merging:
        one.close()


class _Merging:
    def __init__(self, run: Run, block: int) -> None:
        self._block = block  # bytes of terms at a time
        self._lines, self.ids = run.path("terms").open("rb"), run.path("ids").open("wb")
        self.held: list[bytes] = []
        self.done = False  # nothing follows what is held
        self._ahead = self._lines.readlines(self._block)
        self._fill()

    def take(self, bound: bytes | None) -> list[bytes]:
        end = len(self.held) if bound is None else bisect_right(self.held, bound)
        taken, self.held = self.held[:end], self.held[end:]
        self._fill()
        return taken

    def close(self) -> None:
        self._lines.close()
        self.ids.close()

    def _fill(self) -> None:
        if not self.held:
            self.held, self._ahead = self._ahead, self._lines.readlines(self._block)
            self.done = not self._ahead


def _write_lines(path: Path, lines: list[bytes]) -> None:
    text = b"".join(lines)
    if lines[0] < b'"' or len(text.translate(None, _CONTROL)) != len(text) or text.count(b"\n") != len(lines):
        odd = next(line for line in lines if line < b'"' or line.translate(None, _CONTROL + b"\n") != line[:-1])
        raise ValueError(
            f"Expected terms as IRIs, blank nodes _:name and literals in N-Triples form, but got {odd[:80]!r}; "
            "escape control characters."
        )
    path.write_bytes(text)
