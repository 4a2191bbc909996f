"""The home's knowledge graph: triples and the names of their entities, in generations beside those of the index.

    HOME/graph/00000003/triples/     kg_index/triples/columns.py
    HOME/graph/00000003/mentions/    kg_index/linking/mentions.py
    HOME/graph/00000003/tables/      mention tables that were given, for the next generation

Files that are added join what is there: a new generation holds all of it, and is switched to when it is whole.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kg_index.answers.lookup import Fact, Lookup
from kg_index.building.build import build
from kg_index.building.loading import load
from kg_index.building.ntriples import statement
from kg_index.building.rdf_parsing import Counts, Triple, format_of, read_triples
from kg_index.building.rdf_parsing import Reject as Malformed
from kg_index.linking.mention_rows import ALIASES, LABELS, LINKS, Row, read_table, rows_of
from kg_index.linking.mentions import Mentions, write_mentions
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.ingest.records import Reject
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generation, Generations, link

if TYPE_CHECKING:
    from qa_bot.documents.sync import RejectLog

TRIPLES, MENTIONS, TABLES = "triples", "mentions", "tables"
_BATCH = 10_000  # triples of the present graph that are handed on together
Progress = Callable[[int, str], object]


class GraphError(ValueError):
    """A graph that cannot be made or asked; the message says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class FileCounts:
    """What was read from a file; `dropped` are literals in languages that were not asked for."""

    path: str
    triples: int
    rejected: int
    dropped: int


@dataclass(slots=True)
class AddedGraph:
    """What became of an `add`; the figures of the whole graph beside those of its new files."""

    files: list[FileCounts] = field(default_factory=list)
    rejected: int = 0
    examples: list[Reject] = field(default_factory=list)  # the first ones, of triples and of mention tables
    rejects_file: Path | None = None
    seconds: float = 0.0
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def triples(self) -> int:
        """Of the new files, repeated ones too."""
        return sum(file.triples for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("path", "triples", "rejected", "dropped")
        return {
            "files": [{name: getattr(file, name) for name in names} for file in self.files],
            "triples": self.triples,
            "rejected": self.rejected,
            "rejects": [{"where": each.where, "reason": each.reason} for each in self.examples],
            "rejects_file": str(self.rejects_file) if self.rejects_file else None,
            "seconds": round(self.seconds, 3),
            "graph": self.stats,
        }


@dataclass(frozen=True)
class Graph:
    """A generation, opened."""

    triples: TripleIndex
    mentions: Mentions
    generation: int
    folder: Path

    @cached_property
    def lookup(self) -> Lookup:
        return Lookup(self.triples, self.mentions)

    def fact_json(self, fact: Fact) -> dict[str, Any]:
        """A fact for JSON: its terms, and words for them."""
        ids = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
        terms = {name: self.triples.term(number) for name, number in ids.items()}
        return terms | {"labels": {name: self.lookup.label(number) for name, number in ids.items()}}

    def stats(self) -> dict[str, Any]:
        """Figures, for JSON: distinct triples, terms, predicates and names, and the most frequent predicates."""
        told = self.triples.stats()
        return {
            "generation": self.generation,
            "triples": told.totals.triples,
            "terms": told.totals.terms,
            "literals": told.totals.literals,
            "predicates": told.totals.predicates,
            "names": len(self.mentions),
            "bytes": told.bytes,
            "most_frequent": [{"predicate": name, "triples": count} for name, count in told.most_frequent],
        }


def generations(home: Home) -> Generations:
    return Generations(home.graph)


@contextmanager
def open_graph(home: Home) -> Iterator[Graph]:
    """The current generation, held until the end.

    Raises GraphError where there is none, CorruptGenerationError where it is not as it was written.
    """
    with generations(home).pin_current() as generation:
        if generation is None:
            raise GraphError("Expected a knowledge graph, but there is none yet; add one with `qa-bot kg add FILE`.")
        yield _graph(generation)


def add(
    home: Home,
    paths: Sequence[Path],
    *,
    labels: Collection[str] = (),
    tables: Sequence[Path] = (),
    languages: Collection[str] | None = None,
    strict: bool = False,
    progress: Progress = lambda _done, _doing: None,
    scope: str | None = None,
    action: str | None = "kg add",
) -> AddedGraph:
    """Add files of triples to the home's graph; a failure or a kill leaves the one that was there.

    Args:
        paths: N-Triples, N-Quads and Turtle, plain, .gz or .bz2.
        labels: predicates that tell names, beside the usual ones and those of earlier calls.
        tables: mention tables `text TAB entity TAB count`.
        languages: of literals with a language tag, all of them by default.
        strict: raise at the first malformed line instead of leaving it out.
        scope: put before the names of blank nodes; by default another one for each file that is added.
        action: the verb that a second writer is told; None where the caller holds the lock.

    Raises:
        GraphError: a file is missing or of an unknown kind.
        WriterBusyError: another process writes to the home.
    """
    from qa_bot.documents.sync import reject_log  # the store and the index behind it: not to look a fact up

    _check_files(paths, tables)
    started = time.monotonic()
    with home.lock(action), reject_log(home) as log:
        root = generations(home)
        with root.pin_current() as current:
            staged = root.stage((current.number if current else 0) + 1)
            adding = _Adding(staged, current, log, languages=languages, strict=strict, progress=progress, scope=scope)
            try:
                counts = adding.triples(paths)
                naming = adding.mentions(labels, tables)
                told = {"triples": len(adding.index), "files": [path.name for path in paths], "labels": naming}
                published = root.publish(staged, told)
            except BaseException:
                shutil.rmtree(staged, ignore_errors=True)
                raise
        root.prune()
        files = [FileCounts(str(p), c.triples, c.rejected, c.dropped) for p, c in zip(paths, counts, strict=True)]
        return AddedGraph(
            files,
            adding.wrong_rows + sum(file.rejected for file in files),  # of many only the first are reject_log
            list(log.counts.examples),
            log.counts.rejects_file,
            time.monotonic() - started,
            _graph(published).stats(),
        )


def remove(home: Home, *, namespace: str) -> int:
    """Remove the triples whose subject's IRI begins so, wherever they came from; how many went.

    Raises WriterBusyError where another process writes to the home.
    """
    from qa_bot.documents.sync import reject_log

    with home.lock("delete"), reject_log(home) as log:
        root = generations(home)
        with root.pin_current() as current:
            if current is None:
                return 0
            present = TripleIndex(current.path / TRIPLES)
            staged = root.stage(current.number + 1)
            adding = _Adding(staged, current, log, languages=None, strict=False, progress=lambda _done, _doing: None)
            try:
                kept = ([t for t in batch if not t[0].startswith(namespace)] for batch in batches_of(present))
                build(kept, staged / TRIPLES)
                naming = adding.mentions((), ())
                told = {"triples": len(adding.index), "files": [], "labels": naming}
                root.publish(staged, told)
            except BaseException:
                shutil.rmtree(staged, ignore_errors=True)
                raise
        root.prune()
        return len(present) - len(adding.index)


def _check_files(paths: Sequence[Path], tables: Sequence[Path]) -> None:
    for path in (*paths, *tables):
        if not path.is_file():
            raise GraphError(f"Expected a file, but there is none at {path}; check the name.")
    try:
        for path in paths:
            format_of(path)
    except ValueError as error:
        raise GraphError(str(error)) from None


class _Adding:
    """A generation in the making."""

    def __init__(
        self,
        staged: Path,
        current: Generation | None,
        log: RejectLog,
        *,
        languages: Collection[str] | None,
        strict: bool,
        progress: Progress,
        scope: str | None = None,
    ) -> None:
        self._staged, self._current, self._log, self._progress = staged, current, log, progress
        self._scope = scope
        self._languages, self._strict = languages, strict
        self.wrong_rows = 0  # of mention tables

    def triples(self, paths: Sequence[Path]) -> tuple[Counts, ...]:
        """Write the index of the present graph and the files, and say what was read from each file."""
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
        new = (self._batches(path, count, place) for place, (path, count) in enumerate(zip(paths, counts, strict=True)))
        present = batches_of(TripleIndex(self._current.path / TRIPLES)) if self._current else ()
        build(chain(present, *new), folder, progress=self._read)
        return counts

    @cached_property
    def index(self) -> TripleIndex:
        """Of the new generation, once `triples` has written it."""
        return TripleIndex(self._staged / TRIPLES)

    def mentions(self, given: Collection[str], tables: Sequence[Path]) -> list[str]:
        """Write the names of the entities: those that triples tell, and those of all tables that were ever given.

        What is returned are the predicates, now and earlier given, that tell names beside the usual ones.
        """
        index = self.index
        labels = sorted({*given, *(self._current.manifest.get("labels", ()) if self._current else ())})
        kept = self._staged / TABLES
        if self._current is not None and (self._current.path / TABLES).is_dir():
            link(self._current, TABLES, self._staged)
        if tables:
            kept.mkdir(exist_ok=True)
        for table in tables:
            shutil.copyfile(table, kept / f"{self._staged.stem}-{table.name}")
        predicates = frozenset(index.predicate_counts()[0].tolist())

        def entity(term: str) -> int | None:
            """A predicate has a label too, but is not what questions are about."""
            number = index.id_of(term)
            return None if number in predicates else number

        named = rows_of(
            _naming(index, {*LABELS, *labels, *ALIASES, *LINKS}), entity, labels={*LABELS, *labels}, languages=None
        )
        read = (read_table(table, entity, report=self._report_of(table)) for table in sorted(kept.glob("*")))
        rows: Iterator[Row] = chain(named, *read)
        write_mentions(self._counted(rows), self._staged / MENTIONS, salience=index.salience)
        return labels

    def _batches(self, path: Path, counts: Counts, place: int) -> Iterator[list[Triple]]:
        return read_triples(
            path,
            languages=self._languages,
            strict=self._strict,
            report=self._reject,
            counts=counts,
            scope=f"{self._staged.stem}-{place}-" if self._scope is None else self._scope,
        )

    def _counted(self, rows: Iterator[Row]) -> Iterator[Row]:
        for done, row in enumerate(rows, start=1):
            if done % _BATCH == 0:
                self._progress(done, "naming")
            yield row

    def _read(self, stage: str, done: int, _total: int | None) -> None:
        self._progress(done, stage)

    def _reject(self, found: Malformed) -> None:
        self._log.reject(
            Reject(f"{found.path}:{found.line}", f"{found.reason} in {found.text!r}" if found.text else found.reason)
        )

    def _report_of(self, table: Path) -> Callable[[str], None]:
        """What is wrong with an earlier table was told when it was given."""
        return self._wrong_row if table.name.startswith(f"{self._staged.stem}-") else lambda _message: None

    def _wrong_row(self, message: str) -> None:
        self.wrong_rows += 1
        where, _, reason = message.partition(": ")
        self._log.reject(Reject(where, reason))


def batches_of(index: TripleIndex) -> Iterator[list[Triple]]:
    """All triples of an index in order, as they were read."""
    held: list[Triple] = []
    for s in range(index.totals.literals, index.totals.terms):
        predicates, objects = index.facts(s)
        if len(predicates):
            subject = index.term(s)
            held += (
                (subject, index.term(p), index.term(o))
                for p, o in zip(predicates.tolist(), objects.tolist(), strict=True)
            )
        if len(held) >= _BATCH:
            yield held
            held = []
    if held:
        yield held


def statements(generation: Generation) -> Iterator[tuple[int, bytes]]:
    """A generation as blocks of N-Triples, each with the number of its triples."""
    for batch in batches_of(TripleIndex(generation.path / TRIPLES)):
        yield len(batch), "".join(f"{statement(triple)}\n" for triple in batch).encode()


def tables(generation: Generation) -> list[Path]:
    """The mention tables that were given, oldest first."""
    return sorted((generation.path / TABLES).glob("*"))


def holds(generation: Generation, triples: Iterable[Triple]) -> bool:
    """Whether all these triples are in the graph."""
    index = TripleIndex(generation.path / TRIPLES)
    return all(_is_in(index, triple) for triple in triples)


def _is_in(index: TripleIndex, triple: Triple) -> bool:
    subject, predicate, object_ = map(index.id_of, triple)
    if subject is None or predicate is None or object_ is None:
        return False
    return object_ in index.objects(subject, predicate)


def _naming(index: TripleIndex, predicates: Collection[str]) -> Iterator[Triple]:
    """The triples with some predicates."""
    for predicate in sorted(predicates):
        if (number := index.id_of(predicate)) is None:
            continue
        subjects, objects = index.with_predicate(number)
        for s, o in zip(np.asarray(subjects).tolist(), np.asarray(objects).tolist(), strict=True):
            yield index.term(s), predicate, index.term(o)


def _graph(generation: Generation) -> Graph:
    return Graph(
        TripleIndex(generation.path / TRIPLES), Mentions(generation.path / MENTIONS), generation.number, generation.path
    )
