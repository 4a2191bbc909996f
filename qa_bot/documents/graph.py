"""The knowledge graph of a home: triples and the names of their entities, in generations like those of the index.

    HOME/graph/00000003/triples/     kg_index/triples/columns.py
    HOME/graph/00000003/mentions/    kg_index/linking/mentions.py
    HOME/graph/00000003/tables/      copies of the added mention tables, for the next generation

Adding files writes a new generation of all triples and switches to it when it is complete.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from qa_bot.documents.reject_log import RejectLog

TRIPLES, MENTIONS, TABLES = "triples", "mentions", "tables"
_BATCH = 10_000  # triples of the current graph that are read at a time
Progress = Callable[[int, str], object]


class GraphError(ValueError):
    """The graph is missing, or an input file is unusable; the message says what to do."""


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Counts of a file; `dropped` are literals in other languages than the requested ones."""

    path: str
    triples: int
    rejected: int
    dropped: int


@dataclass(slots=True)
class AddedGraph:
    """Result of `add`: counts of the new files and figures of the whole graph."""

    files: list[FileCounts] = field(default_factory=list)
    rejected: int = 0
    examples: list[Reject] = field(default_factory=list)  # the first rejects, of triples and mention tables
    rejects_file: Path | None = None
    seconds: float = 0.0
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def triples(self) -> int:
        """Triples of the new files, with repetitions."""
        return sum(file.triples for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "files": [asdict(file) for file in self.files],
            "triples": self.triples,
            "rejected": self.rejected,
            "rejects": [{"where": reject.where, "reason": reject.reason} for reject in self.examples],
            "rejects_file": str(self.rejects_file) if self.rejects_file else None,
            "seconds": round(self.seconds, 3),
            "graph": self.stats,
        }


@dataclass(frozen=True)
class Graph:
    """An open generation."""

    triples: TripleIndex
    mentions: Mentions
    generation: int
    folder: Path

    @cached_property
    def lookup(self) -> Lookup:
        return Lookup(self.triples, self.mentions)

    def fact_json(self, fact: Fact) -> dict[str, Any]:
        """A fact for JSON: its terms and their labels."""
        ids = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
        terms = {name: self.triples.term(number) for name, number in ids.items()}
        return terms | {"labels": {name: self.lookup.label(number) for name, number in ids.items()}}

    def stats(self) -> dict[str, Any]:
        """Figures, for JSON: distinct triples, terms, predicates and names, and the most frequent predicates."""
        stats = self.triples.stats()
        return {
            "generation": self.generation,
            "triples": stats.totals.triples,
            "terms": stats.totals.terms,
            "literals": stats.totals.literals,
            "predicates": stats.totals.predicates,
            "names": len(self.mentions),
            "bytes": stats.bytes,
            "most_frequent": [{"predicate": name, "triples": count} for name, count in stats.most_frequent],
        }


def generations(home: Home) -> Generations:
    return Generations(home.graph)


@contextmanager
def open_graph(home: Home) -> Iterator[Graph]:
    """The current generation, pinned while the context is open.

    Raises GraphError if there is none, CorruptGenerationError if its files were changed.
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
    """Add files of triples to the home's graph; after a failure or kill the old graph remains.

    Args:
        paths: N-Triples, N-Quads and Turtle, plain, .gz or .bz2.
        labels: predicates of names, in addition to the usual ones and those of earlier calls.
        tables: mention tables `text TAB entity TAB count`.
        languages: of literals with a language tag; all by default.
        strict: raise at the first malformed line instead of skipping it.
        scope: prefix for the names of blank nodes; by default a new one for each file.
        action: name of the action in the lock file; None if the caller holds the lock.

    Raises:
        GraphError: a file is missing or of an unknown kind.
        WriterBusyError: another process writes to the home.
    """
    from qa_bot.documents.reject_log import reject_log

    _check_files(paths, tables)
    started = time.monotonic()
    with home.lock(action), reject_log(home) as log:
        root = generations(home)
        with root.pin_current() as current, _next_generation(root, current) as staged:
            graph = _StagedGraph(
                staged, current, log, languages=languages, strict=strict, progress=progress, scope=scope
            )
            counts = graph.triples(paths)
            published = root.publish(staged, graph.manifest(paths, labels, tables))
        root.prune()
        files = [FileCounts(str(p), c.triples, c.rejected, c.dropped) for p, c in zip(paths, counts, strict=True)]
        return AddedGraph(
            files,
            graph.wrong_rows + sum(file.rejected for file in files),  # the log holds only the first ones
            list(log.counts.examples),
            log.counts.rejects_file,
            time.monotonic() - started,
            _graph(published).stats(),
        )


def remove(home: Home, *, namespace: str) -> int:
    """Remove the triples whose subject's IRI starts with `namespace`. Returns their number.

    Raises WriterBusyError if another process writes to the home.
    """
    from qa_bot.documents.reject_log import reject_log

    with home.lock("delete"), reject_log(home) as log:
        root = generations(home)
        with root.pin_current() as current:
            if current is None:
                return 0
            present = TripleIndex(current.path / TRIPLES)
            with _next_generation(root, current) as staged:
                remaining = ([t for t in batch if not t[0].startswith(namespace)] for batch in batches_of(present))
                build(remaining, staged / TRIPLES)
                graph = _StagedGraph(staged, current, log)
                root.publish(staged, graph.manifest((), (), ()))
        root.prune()
        return len(present) - len(graph.index)


@contextmanager
def _next_generation(root: Generations, current: Generation | None) -> Iterator[Path]:
    """The folder of a new generation, removed after an error."""
    staged = root.stage((current.number if current else 0) + 1)
    try:
        yield staged
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise


def _check_files(paths: Sequence[Path], tables: Sequence[Path]) -> None:
    for path in (*paths, *tables):
        if not path.is_file():
            raise GraphError(f"Expected a file, but got no file at {path}; check the name.")
    try:
        for path in paths:
            format_of(path)
    except ValueError as error:
        raise GraphError(str(error)) from None


class _StagedGraph:
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


def statements(generation: Generation) -> Iterator[tuple[int, bytes]]:
    """A generation as blocks of N-Triples, with the number of triples in each."""
    for batch in batches_of(TripleIndex(generation.path / TRIPLES)):
        yield len(batch), "".join(f"{statement(triple)}\n" for triple in batch).encode()


def tables(generation: Generation) -> list[Path]:
    """The added mention tables, oldest first."""
    return sorted((generation.path / TABLES).glob("*"))


def holds(generation: Generation, triples: Iterable[Triple]) -> bool:
    """Whether the graph has all these triples."""
    index = TripleIndex(generation.path / TRIPLES)
    return all(_is_in(index, triple) for triple in triples)


def _is_in(index: TripleIndex, triple: Triple) -> bool:
    subject, predicate, object_ = map(index.id_of, triple)
    if subject is None or predicate is None or object_ is None:
        return False
    return object_ in index.objects(subject, predicate)


def _triples_with(index: TripleIndex, predicates: Collection[str]) -> Iterator[Triple]:
    """All triples with the given predicates."""
    for predicate in sorted(predicates):
        if (number := index.id_of(predicate)) is None:
            continue
        for s, o in zip(*(ids.tolist() for ids in index.with_predicate(number)), strict=True):
            yield index.term(s), predicate, index.term(o)


def _graph(generation: Generation) -> Graph:
    return Graph(
        TripleIndex(generation.path / TRIPLES), Mentions(generation.path / MENTIONS), generation.number, generation.path
    )
