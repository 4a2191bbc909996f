"""The triple index: facts by any two of their three terms, over memory-mapped sorted columns.

As in Wang (2018), ch. 4.3.2, three orders of the triples serve SP→O, OP→S and SO→P. They are sorted columns instead of
hash tables: they open at once, take 24 bytes a triple, and also serve lookups with one known term.
`kg_index/triples/columns.py` describes the files, `kg_index/building/build.py` writes them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np

from kg_index.triples.columns import Totals, check, map_column, read_manifest, totals_of, view_column
from kg_index.triples.paths import HUB, Path, paths_between
from kg_index.triples.ranges import Groups, equal_ranges, gather
from kg_index.triples.terms import TermTable
from kg_index.values.literals import SameValue, Value, value_of
from qa_core.types import IntArray

MOST_LITERALS = 10_000  # of a subject, compared with a number or date
SHOWN = 20  # most frequent predicates in `Stats`


@dataclass(frozen=True, slots=True)
class Stats:
    """Figures of an index; `most_frequent` are predicates with numbers of triples, `bytes` is the size on disk."""

    totals: Totals
    most_frequent: tuple[tuple[str, int], ...]
    bytes: int


class TripleIndex:
    """Read-only. Ids are valid for this index alone: a rebuild assigns others. An open index survives a rebuild."""

    def __init__(self, folder: FilePath) -> None:
        """Open `folder`; only the manifest is read.

        Raises FileNotFoundError if there is no index, CorruptGraphError if a file is missing or of the wrong length.
        """
        manifest = read_manifest(folder)
        self.folder, self.totals = folder, totals_of(manifest)
        self._bytes = sum(record["bytes"] for record in manifest["files"].values())
        self._terms = TermTable(folder)
        self._spo_begins, self._ops_begins = map_column(folder, "spo.begins"), map_column(folder, "ops.begins")
        self._spo_p, self._spo_o = map_column(folder, "spo.predicates"), map_column(folder, "spo.objects")
        self._sop_o, self._sop_p = map_column(folder, "sop.objects"), map_column(folder, "sop.predicates")
        self._ops_p, self._ops_s = map_column(folder, "ops.predicates"), map_column(folder, "ops.subjects")
        self._predicate_ids = map_column(folder, "predicates.ids")
        self._predicate_counts = map_column(folder, "predicates.counts")
        self._s_begins, self._o_begins = view_column(folder, "spo.begins"), view_column(folder, "ops.begins")
        self._spo_p_view, self._sop_o_view = view_column(folder, "spo.predicates"), view_column(folder, "sop.objects")
        self._ops_p_view = view_column(folder, "ops.predicates")

    def __len__(self) -> int:
        """The number of distinct triples."""
        return self.totals.triples

    def id_of(self, term: str) -> int | None:
        """The id of an IRI, `_:name` or literal in N-Triples form; None if the graph does not have it."""
        return self._terms.id_of(term)

    def term(self, number: int) -> str:
        """Raises IndexError for an id out of range."""
        return self._terms.term(number)

    def is_literal(self, number: int) -> bool:
        """Literals have the first ids."""
        return number < self.totals.literals

    # --- two known terms ---------------------------------------------------------------------------------------------

    def objects(self, s: int, p: int) -> IntArray:
        """SP→O: sorted ids (N,), empty if the pair has no triples. Raises IndexError for an id out of range."""
        begin, end = self._range(self._s_begins, s)
        begin, end = _equal(self._spo_p_view, p, begin, end)
        return self._spo_o[begin:end].astype(np.int64)

    def subjects(self, p: int, o: int) -> IntArray:
        """OP→S: sorted ids (N,)."""
        begin, end = self._range(self._o_begins, o)
        begin, end = _equal(self._ops_p_view, p, begin, end)
        return self._ops_s[begin:end].astype(np.int64)

    def predicates(self, s: int, o: int) -> IntArray:
        """SO→P: sorted ids (N,)."""
        begin, end = self._range(self._s_begins, s)
        begin, end = _equal(self._sop_o_view, o, begin, end)
        return self._sop_p[begin:end].astype(np.int64)

    def objects_many(self, s: IntArray, p: IntArray) -> Groups:
        """`objects` for each pair of s (N,) and p (N,)."""
        begin, end = self._ranges(self._spo_begins, s)
        return gather(self._spo_o, *equal_ranges(self._spo_p, p, begin, end))

    def subjects_many(self, p: IntArray, o: IntArray) -> Groups:
        """`subjects` for each pair of p (N,) and o (N,)."""
        begin, end = self._ranges(self._ops_begins, o)
        return gather(self._ops_s, *equal_ranges(self._ops_p, p, begin, end))

    def predicates_many(self, s: IntArray, o: IntArray) -> Groups:
        """`predicates` for each pair of s (N,) and o (N,)."""
        begin, end = self._ranges(self._spo_begins, s)
        return gather(self._sop_p, *equal_ranges(self._sop_o, o, begin, end))

    def near(self, s: int, value: Value, same: SameValue) -> IntArray:
        """SO→P for a number or date: predicates (N,) with a literal that is the `same` as `value`.

        At most the first `MOST_LITERALS` literals of the subject are compared.
        """
        begin, end = self._range(self._s_begins, s)
        end = min(bisect_left(self._sop_o_view, self.totals.literals, begin, end), begin + MOST_LITERALS)
        pairs = zip(self._sop_o[begin:end].tolist(), self._sop_p[begin:end].tolist(), strict=True)
        values = ((p, value_of(self.term(o))) for o, p in pairs)
        matches = {p for p, known in values if known is not None and same(known, value)}
        return np.array(sorted(matches), np.int64)

    # --- one known term ----------------------------------------------------------------------------------------------

    def facts(self, s: int) -> tuple[IntArray, IntArray]:
        """Predicates (N,) and objects (N,) of the triples with that subject, sorted."""
        begin, end = self._range(self._s_begins, s)
        return self._spo_p[begin:end].astype(np.int64), self._spo_o[begin:end].astype(np.int64)

    def facts_to(self, o: int) -> tuple[IntArray, IntArray]:
        """Predicates (N,) and subjects (N,) of the triples with that object, sorted."""
        begin, end = self._range(self._o_begins, o)
        return self._ops_p[begin:end].astype(np.int64), self._ops_s[begin:end].astype(np.int64)

    def predicates_of(self, s: int) -> IntArray:
        """Distinct predicates (N,) of the triples with that subject."""
        return _distinct(self._spo_p_view, *self._range(self._s_begins, s))

    def predicates_to(self, o: int) -> IntArray:
        """Distinct predicates (N,) of the triples with that object."""
        return _distinct(self._ops_p_view, *self._range(self._o_begins, o))

    def with_predicate(self, p: int) -> tuple[IntArray, IntArray]:
        """Subjects (N,) and objects (N,) of all triples with that predicate, by a scan (1 ms per million triples)."""
        rows = np.flatnonzero(self._spo_p == np.uint32(p)) if 0 <= p < self.totals.terms else np.empty(0, np.int64)
        subjects = np.searchsorted(self._spo_begins, rows.astype(np.uint32), "right") - 1
        return subjects.astype(np.int64), self._spo_o[rows].astype(np.int64)

    def salience(self, ids: IntArray) -> IntArray:
        """Numbers of triples (N,) with each of ids (N,) as subject (Wang (2018), ch. 4.3.3)."""
        begin, end = self._ranges(self._spo_begins, ids)
        return end - begin

    def neighbours(self, entity: int) -> IntArray:
        """The other ends of the entity's triples, (N,), with repetitions."""
        begin, end = self._range(self._s_begins, entity)
        into, out = self._range(self._o_begins, entity)
        return np.concatenate([self._sop_o[begin:end], self._ops_s[into:out]]).astype(np.int64)

    def degree(self, entity: int) -> int:
        """Number of triples with the entity as subject plus those with it as object."""
        begin, end = self._range(self._s_begins, entity)
        into, out = self._range(self._o_begins, entity)
        return end - begin + out - into

    def paths(self, a: int, b: int, *, longest: int = 2, hub: int = HUB) -> list[Path]:
        """Predicate paths from a to b; see `paths_between`."""
        return paths_between(self, a, b, longest=longest, hub=hub)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """All triples in order: subjects, predicates and objects, each (N,) in memory."""
        subjects = np.repeat(np.arange(self.totals.terms), np.diff(self._spo_begins))
        return subjects, self._spo_p.astype(np.int64), self._spo_o.astype(np.int64)

    def predicate_counts(self) -> tuple[IntArray, IntArray]:
        """All predicates (P,) and how many triples each has (P,)."""
        return self._predicate_ids.astype(np.int64), self._predicate_counts.astype(np.int64)

    def stats(self) -> Stats:
        order = np.argsort(-self._predicate_counts.astype(np.int64), kind="stable")[:SHOWN]
        rows = zip(self._predicate_ids[order].tolist(), self._predicate_counts[order].tolist(), strict=True)
        return Stats(self.totals, tuple((self.term(p), count) for p, count in rows), self._bytes)

    def check(self) -> None:
        """Compare the checksums of all files. Raises CorruptGraphError if one differs."""
        check(self.folder)

    def _range(self, begins: Sequence[int] | memoryview, number: int) -> tuple[int, int]:
        if not 0 <= number < self.totals.terms:
            raise _unknown(number, self.totals.terms)
        return begins[number], begins[number + 1]

    def _ranges(
        self, begins: np.ndarray[tuple[int, ...], np.dtype[np.uint32]], ids: IntArray
    ) -> tuple[IntArray, IntArray]:
        wrong = (ids < 0) | (ids >= self.totals.terms)
        if wrong.any():
            raise _unknown(int(ids[wrong][0]), self.totals.terms)
        return begins[ids].astype(np.int64), begins[ids + 1].astype(np.int64)


def _unknown(number: int, terms: int) -> IndexError:
    return IndexError(f"Expected an id below {terms}, but got {number}; it may be of another index.")


def _equal(column: memoryview, key: int, begin: int, end: int) -> tuple[int, int]:
    begin = bisect_left(column, key, begin, end)
    return begin, bisect_right(column, key, begin, end)


def _distinct(column: memoryview, begin: int, end: int) -> IntArray:
    """The distinct values of sorted rows; jumps over equal ones, since a hub has millions."""
    values: list[int] = []
    while begin < end:
        values.append(column[begin])
        begin = bisect_right(column, values[-1], begin, end)
    return np.array(values, np.int64)
