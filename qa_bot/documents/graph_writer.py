"""Writes a new generation of the graph: all triples, and the names of their entities."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg_index.building.build import build
from kg_index.building.loading import load
from kg_index.building.rdf_parsing import Counts, Triple, read_triples
from kg_index.building.rdf_parsing import Reject as Malformed
from kg_index.linking.mention_rows import ALIASES, LABELS, LINKS, Row, read_table, rows_of
from kg_index.linking.mentions import write_mentions
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.ingest.records import Reject
from qa_bot.home.generations import Generation, link

if TYPE_CHECKING:
    from qa_bot.documents.reject_log import RejectLog

TRIPLES, MENTIONS, TABLES = "triples", "mentions", "tables"
Progress = Callable[[int, str], object]
_BATCH = 10_000  # triples of the current graph that are read at a time


class StagedGraph:
    """A new generation while it is written."""

    def __init__(
        self,
        staged: Path,
        current: Generation | None,
        log: RejectLog,
        *,
        languages: Collection[str] | None = None,
        strict: bool = False,
        progress: Progress = lambda _done, _doing: None,
        scope: str | None = None,
    ) -> None:
        self._staged, self._current, self._log, self._progress = staged, current, log, progress
        self._scope = scope
        self._languages, self._strict = languages, strict
        self.wrong_rows = 0  # of mention tables

    def triples(self, paths: Sequence[Path]) -> tuple[Counts, ...]:
        """Write the index of the current graph and the files. Returns the counts of each file."""
        folder = self._staged / TRIPLES
        if self._current is None and self._scope is None:
            loaded = load(
                paths,
                folder,
                languages=self._languages,
                strict=self._strict,
                report=self._reject,
                progress=self._read,
            )
            return loaded.counts
        counts = tuple(Counts() for _ in paths)
        new = (self._batches(path, count, i) for i, (path, count) in enumerate(zip(paths, counts, strict=True)))
        present = batches_of(TripleIndex(self._current.path / TRIPLES)) if self._current else ()
        build(chain(present, *new), folder, progress=self._read)
        return counts

    @cached_property
    def index(self) -> TripleIndex:
        """The index of the new generation; call after `triples`."""
        return TripleIndex(self._staged / TRIPLES)

    def manifest(self, paths: Sequence[Path], labels: Collection[str], tables: Sequence[Path]) -> dict[str, Any]:
        """Write the names of the entities. Returns the manifest of the generation."""
        names = self.mentions(labels, tables)
        return {"triples": len(self.index), "files": [path.name for path in paths], "labels": names}

    def mentions(self, new_labels: Collection[str], tables: Sequence[Path]) -> list[str]:
        """Write the names of the entities, from triples and from all tables added so far.

        Returns the additional predicates of names, of this call and earlier ones.
        """
        index = self.index
        labels = sorted({*new_labels, *(self._current.manifest.get("labels", ()) if self._current else ())})
        folder = self._staged / TABLES
        if self._current is not None and (self._current.path / TABLES).is_dir():
            link(self._current, TABLES, self._staged)
        if tables:
            folder.mkdir(exist_ok=True)
        for table in tables:
            shutil.copyfile(table, folder / f"{self._staged.stem}-{table.name}")
        predicates = frozenset(index.predicate_counts()[0].tolist())

        def entity(term: str) -> int | None:
            """The id of a term that is not a predicate: questions are not about predicates."""
            number = index.id_of(term)
            return None if number in predicates else number

        named = rows_of(
            _triples_with(index, {*LABELS, *labels, *ALIASES, *LINKS}),
            entity,
            labels={*LABELS, *labels},
            languages=None,
        )
        read = (read_table(table, entity, report=self._report_of(table)) for table in sorted(folder.glob("*")))
        rows: Iterator[Row] = chain(named, *read)
        write_mentions(self._counted(rows), self._staged / MENTIONS, salience=index.salience)
        return labels

    def _batches(self, path: Path, counts: Counts, file: int) -> Iterator[list[Triple]]:
        return read_triples(
            path,
            languages=self._languages,
            strict=self._strict,
            report=self._reject,
            counts=counts,
            scope=f"{self._staged.stem}-{file}-" if self._scope is None else self._scope,
        )

    def _counted(self, rows: Iterator[Row]) -> Iterator[Row]:
        for done, row in enumerate(rows, start=1):
            if done % _BATCH == 0:
                self._progress(done, "naming")
            yield row

    def _read(self, stage: str, done: int, _total: int | None) -> None:
        self._progress(done, stage)

    def _reject(self, line: Malformed) -> None:
        reason = f"{line.reason} in {line.text!r}" if line.text else line.reason
        self._log.reject(Reject(f"{line.path}:{line.line}", reason))

    def _report_of(self, table: Path) -> Callable[[str], None]:
        """Reports malformed rows of new tables; those of earlier ones were reported when they were added."""
        return self._wrong_row if table.name.startswith(f"{self._staged.stem}-") else lambda _message: None

    def _wrong_row(self, message: str) -> None:
        self.wrong_rows += 1
        where, _, reason = message.partition(": ")
        self._log.reject(Reject(where, reason))


def batches_of(index: TripleIndex) -> Iterator[list[Triple]]:
    """All triples of an index, sorted."""
    batch: list[Triple] = []
    for s in range(index.totals.literals, index.totals.terms):
        predicates, objects = index.facts(s)
        if len(predicates):
            subject = index.term(s)
            batch += (
                (subject, index.term(p), index.term(o))
                for p, o in zip(predicates.tolist(), objects.tolist(), strict=True)
            )
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _triples_with(index: TripleIndex, predicates: Collection[str]) -> Iterator[Triple]:
    """All triples with the given predicates."""
    for predicate in sorted(predicates):
        if (number := index.id_of(predicate)) is None:
            continue
        for s, o in zip(*(ids.tolist() for ids in index.with_predicate(number)), strict=True):
            yield index.term(s), predicate, index.term(o)
