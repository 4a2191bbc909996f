"""The knowledge graph of a home: triples and the names of their entities, in generations like those of the index.

    HOME/graph/00000003/triples/     kg_index/triples/columns.py
    HOME/graph/00000003/mentions/    kg_index/linking/mentions.py
    HOME/graph/00000003/tables/      copies of the added mention tables, for the next generation

Adding files writes a new generation of all triples and switches to it when it is complete.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kg_index.answers.lookup import Fact, Lookup
from kg_index.building.build import build
from kg_index.building.kept_files import KeptFiles
from kg_index.building.rdf_parsing import Triple, format_of
from kg_index.linking.mentions import Mentions
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.graph_writer import MENTIONS, TABLES, TRIPLES, Progress, StagedGraph, batches_of, statements
from qa_bot.documents.ingest.records import Reject
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generation, Generations
from qa_bot.home.generations.commit import Switch, finish_announced
from qa_bot.home.journal import open_store

__all__ = [
    "MENTIONS",
    "TABLES",
    "TRIPLES",
    "AddedGraph",
    "Graph",
    "GraphError",
    "Progress",
    "add",
    "batches_of",
    "generations",
    "open_graph",
    "remove",
    "statements",
]


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
    names: int = 0  # rows of the new mention tables
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
            "names": self.names,
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
            if generations(home).newest():
                raise GraphError(f"{home.graph / 'CURRENT'} is missing: it names the graph; run `qa-bot repair`.")
            raise GraphError("Expected a knowledge graph, but there is none yet; add one with `qa-bot kg add FILE`.")
        generations(home).expect_whole(generation)
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
    switches: list[Switch] | None = None,
) -> AddedGraph:
    """Add files of triples to the home's graph; after a failure or kill the old graph remains.

    Args:
        paths: N-Triples, N-Quads and Turtle, plain, .gz or .bz2.
        labels: predicates of names, in addition to the usual ones and those of earlier calls.
        tables: mention tables `text TAB entity TAB count`.
        languages: of literals with a language tag; all by default.
        strict: raise at the first malformed line instead of skipping it.
        scope: prefix for the names of blank nodes; by default one of each file's content.
        action: name of the action in the lock file; None if the caller holds the lock.
        switches: takes the new generation, which the caller commits with other changes; by default it is published.

    Raises:
        GraphError: a file is missing or of an unknown kind.
        WriterBusyError: another process writes to the home.
    """
    from qa_bot.documents.reject_log import reject_log

    _check_files(paths, tables)
    started = time.monotonic()
    with home.lock(action), reject_log(home) as log:
        root = _settled(home)
        with root.pin_current() as current, _next_generation(root, current) as staged:
            graph = StagedGraph(
                staged, current, log, languages=languages, strict=strict, progress=progress, scope=scope
            )
            counts = graph.triples(paths)
            written = _publish(root, staged, graph.manifest(paths, labels, tables), switches)
        files = [FileCounts(str(p), c.triples, c.rejected, c.dropped) for p, c in zip(paths, counts, strict=True)]
        return AddedGraph(
            files,
            graph.new_names,
            graph.wrong_rows + sum(file.rejected for file in files),  # the log holds only the first ones
            list(log.counts.examples),
            log.counts.rejects_file,
            time.monotonic() - started,
            _graph(written).stats(),
        )


def remove(home: Home, *, namespace: str, action: str | None = "delete", switches: list[Switch] | None = None) -> int:
    """Remove the triples whose subject's IRI starts with `namespace`. Returns their number.

    `action` and `switches` as for `add`. Raises WriterBusyError if another process writes to the home.
    """
    from qa_bot.documents.reject_log import reject_log

    with home.lock(action), reject_log(home) as log:
        root = _settled(home)
        with root.pin_current() as current:
            if current is None:
                return 0
            present = TripleIndex(current.path / TRIPLES)
            with _next_generation(root, current) as staged:
                remaining = ([t for t in batch if not t[0].startswith(namespace)] for batch in batches_of(present))
                build(remaining, staged / TRIPLES)
                graph = StagedGraph(staged, current, log)
                _publish(root, staged, graph.manifest((), (), (), removed=namespace), switches)
        return len(present) - len(graph.index)


def rebuild(home: Home, files: KeptFiles) -> int:
    """Publish a new generation from the copies of added files; the number of its triples. The caller holds the lock."""
    from qa_bot.documents.reject_log import reject_log

    root = _settled(home)
    if newest := root.newest():
        root.switch(newest)  # CURRENT may be damaged, or name a generation that is gone
    with reject_log(None) as log, _next_generation(root, None, above=newest) as staged:
        build(files.triples(), staged / TRIPLES)
        graph = StagedGraph(staged, None, log)
        tables = files.tables()
        manifest = {**graph.manifest((), files.labels(), tables), "files": [path.name for path in tables]}
        graph.keep_as(files)
        _publish(root, staged, manifest, None)
        return int(manifest["triples"])


def _settled(home: Home) -> Generations:
    """The generations of the graph; what a dead writer announced is finished or undone."""
    root = generations(home)
    if not (root.root / "CURRENT").exists() and root.newest():  # lost, or its writer died before it wrote the first
        root.switch(root.newest())
    if root.announced():
        with open_store(home, load_config(home.path)) as store:
            finish_announced(store.commits, (Generations(home.index), root))
    return root


def _publish(root: Generations, staged: Path, manifest: dict[str, Any], switches: list[Switch] | None) -> Generation:
    """Make the staged generation current, or hand it to a commit."""
    if switches is not None:
        generation = root.prepare(staged, manifest)
        switches.append(Switch(root, generation))
        return generation
    generation = root.publish(staged, manifest)
    root.prune()
    return generation


@contextmanager
def _next_generation(root: Generations, current: Generation | None, *, above: int = 0) -> Iterator[Path]:
    """The folder of a new generation, removed after an error."""
    staged = root.stage((current.number if current else above) + 1)
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


def _graph(generation: Generation) -> Graph:
    return Graph(
        TripleIndex(generation.path / TRIPLES), Mentions(generation.path / MENTIONS), generation.number, generation.path
    )
