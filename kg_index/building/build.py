"""Builds a triple index in bounded memory: assigns ids to the terms, then sorts the triples in three orders.

The folder is written under another name and renamed when complete; open readers keep the old one. The result does not
depend on the memory limit. Repeated triples are stored once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kg_index.building.sorting import RowKeys, Sorter
from kg_index.building.term_ids import Run, RunWriter, merge_terms
from kg_index.triples.columns import Ids, Totals, write_manifest
from kg_index.triples.triple_index import Stats, TripleIndex
from qa_core.atomic import atomic_folder

Progress = Callable[[str, int, int | None], None]
MEMORY = 1 << 30
WORK = "work"  # prefix of the name of the folder for temporary files, within the new one
MIN_MEMORY = 1 << 24  # bytes to sort in: less would give too many runs
_EMPTY = 1 << 16  # terms without rows, written at a time
MAX_ROWS = (1 << 32) - 1  # ids and row numbers take 32 bits


def ignore_progress(stage: str, done: int, total: int | None) -> None:
    """Reports nothing."""


def build(
    batches: Iterable[Sequence[tuple[str, str, str]]],
    folder: Path,
    *,
    memory: int = MEMORY,
    progress: Progress = ignore_progress,
) -> Stats:
    """Write the index of the triples into `folder`, replacing the one there.

    Args:
        batches: from `read_triples`, of one or several files.
        memory: bytes to work with, about; at least 16 MB.
        progress: called with a stage ("read", "name", "sort", "write"), the amount done and the total if known.

    Raises ValueError for a term that is not in N-Triples form and for more than 2³² terms or triples. After any error,
    also of `batches`, the old index remains.
    """
    with index_folder(folder) as (new, work):
        writer = RunWriter(work, memory=memory)
        for batch in batches:
            if batch:
                writer.add(batch)
            progress("read", writer.rows, None)
        writer.flush()
        index_runs(writer.runs, new, work, rows=writer.rows, memory=memory, progress=progress)
    return TripleIndex(folder).stats()


def index_runs(runs: Sequence[Run], new: Path, work: Path, *, rows: int, memory: int, progress: Progress) -> None:
    """Merge the runs, of `rows` triples in total, into the files of an index in `new`; removes the runs."""
    with (new / "terms.text").open("wb") as text, (new / "terms.begins").open("wb") as begins:
        terms, literals = merge_terms(runs, text, begins, memory=memory)
    progress("name", terms, terms)
    _expect_room(terms, "terms")
    sorting = _Sorting(work, terms, _predicates(runs), memory=memory, progress=progress)
    triples = sorting.write(new, runs, rows=rows)
    write_manifest(new, Totals(triples, terms, literals, len(sorting.predicates)))


class _Sorting:
    """Sorts the triples in the three orders; keys hold the ranks of predicates instead of their ids."""

    def __init__(self, work: Path, terms: int, predicates: Ids, *, memory: int, progress: Progress) -> None:
        self.predicates, self._terms, self._progress = predicates, terms, progress
        term, rank = max(terms.bit_length(), 1), max(len(predicates).bit_length(), 1)
        self._outer, self._inner = RowKeys((term, rank, term)), RowKeys((term, term, rank))
        self._dtype = self._outer.dtype
        rows = max(memory, MIN_MEMORY) // (12 * self._dtype.itemsize)  # two sorters are filled while a third is read
        self._spo, self._sop, self._ops = (Sorter(work, n, self._dtype, rows=rows) for n in ("spo", "sop", "ops"))

    def write(self, new: Path, runs: Sequence[Run], *, rows: int) -> int:
        """Write all columns. Returns the number of distinct triples."""
        self._sort(runs, rows)
        triples = self._write_spo(new)
        with _columns(new, "sop.objects", "sop.predicates") as (objects, predicates):
            for keys in self._sop.blocks():
                _, o, rank = self._inner.unpack(keys)
                objects.write(o.tobytes())
                predicates.write(self.predicates[rank].tobytes())
        self._progress("write", 2 * triples, 3 * triples)
        with _columns(new, "ops.predicates", "ops.subjects", "ops.begins") as (predicates, subjects, file):
            begins = _Begins(file, self._terms)
            for keys in self._ops.blocks():
                o, rank, s = self._outer.unpack(keys)
                begins.count(o)
                predicates.write(self.predicates[rank].tobytes())
                subjects.write(s.tobytes())
            begins.end()
        self._progress("write", 3 * triples, 3 * triples)
        return triples

    def _sort(self, runs: Sequence[Run], rows: int) -> None:
        done = 0
        for run in runs:
            s, p, o = run.read("ids")[run.read("triples").reshape(-1, 3)].T  # each (n,)
            self._spo.add(self._outer.pack(s, self._ranks(p), o))
            run.remove()
            done += len(s)
            self._progress("sort", done, rows)

    def _write_spo(self, new: Path) -> int:
        triples, counts = 0, np.zeros(len(self.predicates), np.int64)
        with _columns(new, "spo.predicates", "spo.objects", "spo.begins") as (predicates, objects, file):
            begins = _Begins(file, self._terms)
            for keys in self._spo.blocks():
                s, rank, o = self._outer.unpack(keys)
                begins.count(s)
                predicates.write(self.predicates[rank].tobytes())
                objects.write(o.tobytes())
                counts += np.bincount(rank, minlength=len(counts))
                self._sop.add(self._inner.pack(s, o, rank))
                self._ops.add(self._outer.pack(o, rank, s))
                triples += len(keys)
            begins.end()
        _expect_room(triples, "triples")
        self.predicates.tofile(new / "predicates.ids")
        counts.astype(np.uint32).tofile(new / "predicates.counts")
        self._progress("write", triples, 3 * triples)
        return triples

    def _ranks(self, predicates: Ids) -> Ids:
        ranks: Ids = np.searchsorted(self.predicates, predicates).astype(np.uint32)
        return ranks


class _Begins:
    """Writes the first row of each term, then the number of rows, from the sorted leading column."""

    def __init__(self, file: BinaryIO, terms: int) -> None:
        self._file, self._terms = file, terms
        self._written, self._rows = 0, 0  # terms with a begin so far, rows so far

    def count(self, leading: Ids) -> None:
        """Add the next block (n,) of the leading column."""
        if len(leading):
            first = int(leading[0])
            self._fill_up_to(first)
            counts = np.bincount(leading - leading[0])
            self._write(self._rows + np.cumsum(counts[:-1]))
            self._rows += len(leading)

    def end(self) -> None:
        self._fill_up_to(self._terms)

    def _fill_up_to(self, term: int) -> None:
        while self._written <= term:  # terms without rows
            self._write(np.full(min(term + 1 - self._written, _EMPTY), self._rows))

    def _write(self, begins: NDArray[np.int64]) -> None:
        begins.astype(np.uint32).tofile(self._file)
        self._written += len(begins)


def _predicates(runs: Sequence[Run]) -> Ids:
    ids = [run.read("ids")[run.read("predicates")] for run in runs]
    return np.unique(np.concatenate([np.empty(0, np.uint32), *ids]))


def _expect_room(count: int, what: str) -> None:
    if count > MAX_ROWS:
        raise ValueError(f"Expected at most {MAX_ROWS} {what}, but got {count}; leave some files or languages out.")


@contextmanager
def _columns(folder: Path, *names: str) -> Iterator[list[BinaryIO]]:
    with ExitStack() as stack:
        yield [stack.enter_context((folder / name).open("wb")) for name in names]


@contextmanager
def index_folder(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A new folder that replaces `folder` on success, and within it a folder for temporary files."""
    with atomic_folder(folder) as new:
        work = new / f"{WORK}{os.getpid()}"  # by process: a reader that survives a killed build does not find the next
        work.mkdir()
        yield new, work
        shutil.rmtree(work)
