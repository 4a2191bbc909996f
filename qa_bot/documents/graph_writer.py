"""Writes a new generation of the graph: all triples, and the names of their entities."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg_index.building.build import build
from kg_index.building.kept_files import FOLDER, Change, KeptFiles, KeptFilesError
from kg_index.building.loading import load
from kg_index.building.ntriples import statement
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
SCOPE = 16
"""Characters of a digest that keep the blank nodes of files apart."""
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
        self._scope, self._digests = scope, dict[Path, str]()
        self._languages, self._strict = languages, strict
        self.new_names = self.wrong_rows = 0  # of new mention tables

    def triples(self, paths: Sequence[Path]) -> tuple[Counts, ...]:
        """Write the index of the current graph and the files. Returns the counts of each file."""
        folder = self._staged / TRIPLES
        if self._current is None:
            loaded = load(
                paths,
                folder,
                languages=self._languages,
                strict=self._strict,
                scopes=[self._scope_of(path) for path in paths],
                report=self._reject,
                progress=self._read,
            )
            return loaded.counts
        counts = tuple(Counts() for _ in paths)
        new = map(self._batches, paths, counts)
        present = batches_of(TripleIndex(self._current.path / TRIPLES)) if self._current else ()
        build(chain(present, *new), folder, progress=self._read)
        return counts

    @cached_property
    def index(self) -> TripleIndex:
        """The index of the new generation; call after `triples`."""
        return TripleIndex(self._staged / TRIPLES)

    def manifest(
        self, paths: Sequence[Path], labels: Collection[str], tables: Sequence[Path], *, removed: str = ""
    ) -> dict[str, Any]:
        """Write the names of the entities, and copies of the files. Returns the manifest of the generation.

        Args:
            removed: namespace whose triples were left out.
        """
        names = self.mentions(labels, tables)
        self._keep(paths, labels, tables, removed)
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
        new = {folder / f"{self._staged.stem}-{number}-{table.name}": table for number, table in enumerate(tables)}
        for copy, table in new.items():
            shutil.copyfile(table, copy)
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
        read = (self._rows_of(copy, new.get(copy), entity) for copy in sorted(folder.glob("*")))
        rows: Iterator[Row] = chain(named, *read)
        write_mentions(self._counted(rows), self._staged / MENTIONS, salience=index.salience)
        return labels

    def _keep(self, paths: Sequence[Path], labels: Collection[str], tables: Sequence[Path], removed: str) -> None:
        """Copy the new files beside those of earlier generations."""
        copies, changes = KeptFiles(self._staged / FOLDER), list[Change]()
        if self._current is not None:
            changes = self._kept_before(copies, self._current)
        for number, path in enumerate(paths):
            name = copies.keep(path, f"{self._staged.stem}-{number}-{path.name}")
            languages = None if self._languages is None else tuple(self._languages)
            changes.append(Change("facts", name, self._scope_of(path), languages, tuple(labels)))
        for number, table in enumerate(tables):
            name = copies.keep(table, f"{self._staged.stem}-{number}-{table.name}")
            changes.append(Change("table", name, labels=tuple(labels)))
        if removed:
            changes.append(Change("removed", removed))
        copies.folder.mkdir(exist_ok=True)
        copies.write(changes)

    def _scope_of(self, path: Path) -> str:
        """The prefix of a file's blank nodes: its content decides, so that the same file adds nothing again."""
        if self._scope is None and path not in self._digests:
            with path.open("rb") as file:
                self._digests[path] = f"{hashlib.file_digest(file, 'sha256').hexdigest()[:SCOPE]}-"
        return self._digests[path] if self._scope is None else self._scope

    def keep_as(self, files: KeptFiles) -> None:
        """Take over the copies of another folder in place of those that `manifest` wrote."""
        shutil.rmtree(self._staged / FOLDER)
        shutil.copytree(files.folder, self._staged / FOLDER)

    def _kept_before(self, copies: KeptFiles, current: Generation) -> list[Change]:
        """The copies of the generation before; all its triples as one copy if it has none, or damaged ones."""
        try:
            before = KeptFiles(current.path / FOLDER)
            before.expect_whole()
        except KeptFilesError:
            blocks = (lines for _, lines in statements(current))
            labels = tuple(current.manifest.get("labels", ()))
            changes = [Change("facts", copies.keep_blocks(blocks, f"{self._staged.stem}-earlier.nt.gz"), labels=labels)]
            earlier = sorted((current.path / TABLES).glob("*"))
            return changes + [Change("table", copies.keep(table, f"earlier-{table.name}")) for table in earlier]
        link(current, FOLDER, self._staged)
        return before.changes()

    def _batches(self, path: Path, counts: Counts) -> Iterator[list[Triple]]:
        return read_triples(
            path,
            languages=self._languages,
            strict=self._strict,
            report=self._reject,
            counts=counts,
            scope=self._scope_of(path),
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

    def _rows_of(self, copy: Path, table: Path | None, entity: Callable[[str], int | None]) -> Iterator[Row]:
        """Rows of a copied table. Of a new one, `table`, rows are counted, and malformed ones reported."""

        def reject(line: int, reason: str) -> None:
            if table is not None:
                self.wrong_rows += 1
                self._log.reject(Reject(f"{table}:{line}", reason))

        for row in read_table(copy, entity, report=reject):
            self.new_names += table is not None
            yield row


def statements(generation: Generation) -> Iterator[tuple[int, bytes]]:
    """A generation as blocks of N-Triples, with the number of triples in each."""
    for batch in batches_of(TripleIndex(generation.path / TRIPLES)):
        yield len(batch), "".join(f"{statement(triple)}\n" for triple in batch).encode()


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
