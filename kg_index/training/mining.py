"""Templates from pairs of questions and answers that nobody labelled (thesis, ch. 4.3.4).

    for progress in mine(pairs, partial(open_tools, folder), out):
        print(progress)
    table = TemplateTable.load(out)

For each mention in the question and each in the answer the template is the question with that mention replaced by a
slot, and every path of predicates between an entity of the one and an entity of the other adds `1/c` to its count,
where `c` paths join these two entities. Where no two entities are joined, "no path found" is counted once. Numbers and
dates of the answer add the predicates by which an entity has nearly that value; one that no fact has tells nothing,
for texts are full of numbers.
"""

from __future__ import annotations

import heapq
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice, product
from pathlib import Path
from typing import NamedTuple, Protocol

from kg_index.relations.template_rows import Row, TemplateCounts, added, read_rows, write_rows
from kg_index.relations.template_text import NO_PATH, SLOT, path_text, template_of
from kg_index.values.dates import Date
from kg_index.values.literals import Value
from kg_index.values.question_values import find_values, graph_value
from qa_core.types import IntArray

NEAR = 0.01  # of a number, that the graph's may differ; a date has to agree


class MentionSpan(Protocol):
    """`[start, end)` of a text in code points, and what it may name, likeliest first."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def entities(self) -> Sequence[int]: ...


class MentionFinder(Protocol):
    def find(self, text: str) -> Sequence[MentionSpan]: ...


class PathStep(Protocol):
    @property
    def predicate(self) -> int: ...
    @property
    def inverse(self) -> bool: ...


class GraphPaths(Protocol):
    """A triple index; it bounds by itself what a hub costs."""

    def paths(self, a: int, b: int, *, longest: int) -> Sequence[Sequence[PathStep]]: ...
    def near(self, s: int, value: Value, tolerance: float) -> IntArray: ...
    def term(self, number: int) -> str: ...


class Tools(NamedTuple):
    """What a process mines with; the functions that open it travel to the processes, not the tools themselves."""

    mentions: MentionFinder
    graph: GraphPaths


QuestionAnswer = tuple[str, str]
"""A question and its answer, or answers joined by line breaks."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a single pair may cost at most; what lies behind a bound is left out, the likeliest first."""

    characters: int = 2_000  # of the question and of the answer that are read
    words: int = 40  # of a question: longer ones make no template that comes again
    mentions: int = 12  # in the question, and in the answer
    entities: int = 5  # a mention may name
    values: int = 4  # numbers and dates in the answer
    lookups: int = 200  # pairs of entities, of one pair of question and answer
    longest: int = 2  # steps of a path


@dataclass(frozen=True, slots=True)
class MiningProgress:
    """After some chunks of pairs."""

    pairs: int
    with_mentions: int  # of them with a mention on both sides
    mappings: int  # distinct ones, counted anew in every part written so far
    pairs_per_second: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Mined:
    """What a chunk of pairs gave."""

    counts: TemplateCounts
    pairs: int
    with_mentions: int


def mine(
    pairs: Iterable[QuestionAnswer],
    open_tools: Callable[[], Tools],
    out: Path,
    *,
    bounds: Bounds | None = None,
    processes: int = 2,
    chunk: int = 2_000,
    held: int = 2_000_000,
) -> Iterator[MiningProgress]:
    """Mine pairs into the table `out`, which stands when the last progress has been taken.

    The counts do not depend on the number of processes or the size of chunks, but for rounding in the sixth digit.

    Args:
        open_tools: opens mentions and graph, once in each process; a function of a module, or a partial of one.
        processes: 1 works in this process.
        chunk: pairs handed to a process at once.
        held: mappings in memory; beyond them a sorted part is written beside `out`, and all are merged in the end.
    """
    limits = bounds or Bounds()
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        parts = _Parts(Path(folder), held)
        meter = _Meter(time.perf_counter())
        for mined in _results(_chunks(pairs, chunk), open_tools, limits, processes):
            parts.take(mined.counts)
            yield meter.after(mined, parts.mappings)
        partial = parts.merged()
        shutil.move(partial, out)


def mine_chunk(pairs: Iterable[QuestionAnswer], tools: Tools, bounds: Bounds) -> Mined:
    """Counts of some pairs, in this process."""
    counts, number, useful = TemplateCounts(), 0, 0
    for question, answer in pairs:
        number += 1
        useful += _mine_pair(question[: bounds.characters], answer[: bounds.characters], tools, bounds, counts)
    return Mined(counts, number, useful)


def _mine_pair(question: str, answer: str, tools: Tools, bounds: Bounds, counts: TemplateCounts) -> bool:
    """Adds what one pair gives; whether it had a mention on both sides."""
    asked = tools.mentions.find(question)[: bounds.mentions] if len(question.split()) <= bounds.words else ()
    answered = tools.mentions.find(answer)[: bounds.mentions] if asked else ()
    values = _values(answer)[: bounds.values] if asked else ()
    left = bounds.lookups
    for mention in asked:
        template = template_of(question, mention.start, mention.end)
        if template == SLOT:
            continue
        for entity, value in product(mention.entities[: bounds.entities], values):
            _count_near(template, entity, value, tools.graph, counts)
        for other in answered:
            pairs = _entity_pairs(mention, other, bounds.entities)[:left]
            left -= len(pairs)
            if pairs:
                _count(template, pairs, tools.graph, bounds.longest, counts)
    return bool(asked and answered)


def _values(answer: str) -> list[Value]:
    """Numbers and dates of a text; a year is either, for graphs write it as both."""
    values: list[Value] = []
    for found in find_values(answer):
        if (value := graph_value(found)) is not None:
            values.append(value)
        if isinstance(found, Date) and found.precision == "year" and found.year is not None:
            values.append(float(found.year))
    return values


def _count_near(template: str, entity: int, value: Value, graph: GraphPaths, counts: TemplateCounts) -> None:
    year = isinstance(value, float) and value.is_integer() and 1000 <= value < 2100  # 1 % of it is 20 years
    predicates = graph.near(entity, value, NEAR if isinstance(value, float) and not year else 0.0)
    for predicate in predicates.tolist():
        counts.add(template, path_text([(graph.term(predicate), False)]), 1 / len(predicates))


def _entity_pairs(mention: MentionSpan, other: MentionSpan, most: int) -> list[tuple[int, int]]:
    """An entity is on its way to itself by any fact and back, which says nothing: those pairs are left out."""
    return [(a, b) for a in mention.entities[:most] for b in other.entities[:most] if a != b]


def _count(
    template: str, pairs: Sequence[tuple[int, int]], graph: GraphPaths, longest: int, counts: TemplateCounts
) -> None:
    none = True
    for a, b in pairs:
        paths = graph.paths(a, b, longest=longest)
        for path in paths:
            relation = path_text((graph.term(step.predicate), step.inverse) for step in path)
            counts.add(template, relation, 1 / len(paths))
        none = none and not paths
    if none:
        counts.add(template, NO_PATH)


def _chunks(pairs: Iterable[QuestionAnswer], size: int) -> Iterator[list[QuestionAnswer]]:
    rest = iter(pairs)
    while chunk := list(islice(rest, size)):
        yield chunk


# ------------------------------------------------------------------------------------------------------ processes

_TOOLS: Tools | None = None  # of a process of the pool


def _start(open_tools: Callable[[], Tools]) -> None:
    global _TOOLS
    _TOOLS = open_tools()


def _work(pairs: Sequence[QuestionAnswer], bounds: Bounds) -> Mined:
    assert _TOOLS is not None
    return mine_chunk(pairs, _TOOLS, bounds)


def _results(
    chunks: Iterable[Sequence[QuestionAnswer]], open_tools: Callable[[], Tools], bounds: Bounds, processes: int
) -> Iterator[Mined]:
    """Results in the order of chunks; no more than a few chunks are read ahead."""
    if processes == 1:
        tools = open_tools()
        yield from (mine_chunk(each, tools, bounds) for each in chunks)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy locks of threads in mid-air
    with ProcessPoolExecutor(processes, context, _start, (open_tools,)) as pool:
        waiting: list[Future[Mined]] = []
        for each in chunks:
            waiting.append(pool.submit(_work, each, bounds))
            if len(waiting) > 2 * processes:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


@dataclass(slots=True)
class _Parts:
    """Counts in memory, and sorted parts on disk once they are too many."""

    folder: Path
    held: int
    counts: TemplateCounts = field(default_factory=TemplateCounts)
    written: list[Path] = field(default_factory=list)
    mappings_written: int = 0

    @property
    def mappings(self) -> int:
        return self.mappings_written + self.counts.size

    def take(self, counts: TemplateCounts) -> None:
        self.counts.merge(counts)
        if self.counts.size >= self.held:
            self._write()

    def merged(self) -> Path:
        """A file with all rows, those of the same template and relation added up."""
        self._write()
        rows: Iterable[Row] = heapq.merge(*map(read_rows, self.written))
        path = self.folder / "merged.tsv"
        write_rows(path, chain.from_iterable(added(rows)))
        return path

    def _write(self) -> None:
        path = self.folder / f"{len(self.written)}.tsv"
        write_rows(path, self.counts.rows())
        self.written.append(path)
        self.mappings_written += self.counts.size
        self.counts = TemplateCounts()


@dataclass(slots=True)
class _Meter:
    since: float
    pairs: int = 0
    with_mentions: int = 0

    def after(self, mined: Mined, mappings: int) -> MiningProgress:
        self.pairs += mined.pairs
        self.with_mentions += mined.with_mentions
        seconds = time.perf_counter() - self.since
        return MiningProgress(self.pairs, self.with_mentions, mappings, self.pairs / max(seconds, 1e-9), seconds)
