"""Mines templates from unlabelled pairs of questions and answers (Wang (2018), ch. 4.3.4).

    for progress in mine(pairs, partial(open_tools, folder), out):
        print(progress)
    table = TemplateTable.load(out)

For each text of a mention in the question and each in the answers, the template is the question with the mention
replaced by a slot, at its first occurrence. Each of the c paths of predicates between two of their entities adds 1/c to
its count, once for two entities whatever their names; without any path, "no path found" counts once. Numbers and dates
of the answers add the predicates with nearly that value; a value without a fact adds nothing, since texts are full of
numbers.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple, Protocol

from kg_index.relations.template_rows import CountedParts, TemplateCounts
from kg_index.relations.template_text import NO_PATH, SLOT, path_text, template_of
from kg_index.values.dates import Date
from kg_index.values.literals import SameValue, Value, near, same_digits
from kg_index.values.question_values import find_values, graph_value
from qa_core.types import IntArray

NEAR = 0.01  # relative tolerance of numbers; dates must agree


class MentionSpan(Protocol):
    """`[start, end)` of a text and the entities it may name, likeliest first."""

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
    """A triple index, which bounds the cost of hubs."""

    def paths(self, a: int, b: int, *, longest: int) -> Sequence[Sequence[PathStep]]: ...
    def near(self, s: int, value: Value, same: SameValue) -> IntArray: ...
    def term(self, number: int) -> str: ...


class Tools(NamedTuple):
    """The tools of a process, which opens them itself."""

    mentions: MentionFinder
    graph: GraphPaths


class QuestionAnswers(NamedTuple):
    """A question and its answers, which may be names of the same entity."""

    question: str
    answers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the work for a pair; what exceeds them is ignored, the least likely first."""

    characters: int = 2_000  # of the question and of the answers
    words: int = 40  # of a question; longer ones give templates that never recur
    mentions: int = 12  # in the question, and in the answers
    entities: int = 5  # per mention
    values: int = 4  # numbers and dates in the answers
    lookups: int = 200  # pairs of entities
    longest: int = 2  # steps of a path
    digits: int = 0  # significant digits in which numbers must agree, Wang's 3; 0: within 1 %


@dataclass(frozen=True, slots=True)
class MiningProgress:
    """Progress after a chunk of pairs."""

    pairs: int
    with_mentions: int  # pairs with a mention on both sides
    mappings: int  # distinct within each part written so far
    pairs_per_second: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Mined:
    """Counts of a chunk of pairs."""

    counts: TemplateCounts
    pairs: int
    with_mentions: int


def mine(
    pairs: Iterable[QuestionAnswers],
    open_tools: Callable[[], Tools],
    out: Path,
    *,
    bounds: Bounds | None = None,
    processes: int = 2,
    chunk: int = 2_000,
    held: int = 2_000_000,
) -> Iterator[MiningProgress]:
    """Mine pairs into the table `out`, which is complete when the iterator ends.

    Except for rounding in the sixth digit, the counts do not depend on the processes and the chunk size.

    Args:
        open_tools: opens mentions and graph in each process; must be picklable.
        processes: 1 works in this process.
        chunk: pairs per task.
        held: mappings in memory before a sorted part is written next to `out`; parts are merged at the end.
    """
    limits = bounds or Bounds()
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        parts = CountedParts(Path(folder), held)
        meter = _Meter(time.perf_counter())
        for mined in _results(_chunks(pairs, chunk), open_tools, limits, processes):
            parts.take(mined.counts)
            yield meter.after(mined, parts.mappings)
        partial = parts.merged()
        shutil.move(partial, out)


def mine_chunk(pairs: Iterable[QuestionAnswers], tools: Tools, bounds: Bounds) -> Mined:
    """Count the mappings of some pairs in this process."""
    counts, number, useful = TemplateCounts(), 0, 0
    for question, answers in pairs:
        number += 1
        useful += _mine_pair(question[: bounds.characters], answers, tools, bounds, counts)
    return Mined(counts, number, useful)


def _mine_pair(question: str, answers: Sequence[str], tools: Tools, bounds: Bounds, counts: TemplateCounts) -> bool:
    """Add the mappings of a pair. Returns whether it has a mention on both sides."""
    short = len(question.split()) <= bounds.words
    mentions = _by_text([question], tools.mentions)[: bounds.mentions] if short else []
    if not mentions:
        return False
    answers = _shortened(answers, bounds.characters)
    answer_mentions = _by_text(answers, tools.mentions)[: bounds.mentions]
    values = list(dict.fromkeys(value for answer in answers for value in _values(answer)))[: bounds.values]
    left = bounds.lookups
    for mention in mentions:
        template = template_of(question, mention.start, mention.end)
        if template == SLOT:
            continue
        for entity, value in product(mention.entities[: bounds.entities], values):
            _count_near(template, entity, value, tools.graph, bounds, counts)
        connected: dict[tuple[int, int], bool] = {}
        for other in answer_mentions:
            pairs = _entity_pairs(mention, other, bounds.entities)
            new = [pair for pair in pairs if pair not in connected][:left]
            left -= len(new)
            connected |= {pair: _count(template, pair, tools.graph, bounds.longest, counts) for pair in new}
            if new and not any(connected.get(pair) for pair in pairs):
                counts.add(template, NO_PATH)
    return bool(answer_mentions)


def _by_text(texts: Sequence[str], names: MentionFinder) -> list[MentionSpan]:
    """The first mention of each name, by text and place."""
    first: dict[str, MentionSpan] = {}
    for text in texts:
        for mention in names.find(text):
            first.setdefault(text[mention.start : mention.end].casefold(), mention)
    return list(first.values())


def _shortened(texts: Sequence[str], characters: int) -> list[str]:
    """The first `characters` of all texts together."""
    shortened: list[str] = []
    for text in texts:
        if characters <= 0:
            break
        shortened.append(text[:characters])
        characters -= len(text)
    return shortened


def _values(answer: str) -> list[Value]:
    """Numbers and dates of a text; a year is both, since graphs use either."""
    values: list[Value] = []
    for mention in find_values(answer):
        if (value := graph_value(mention)) is not None:
            values.append(value)
        if isinstance(mention, Date) and mention.precision == "year" and mention.year is not None:
            values.append(float(mention.year))
    return values


def _count_near(
    template: str, entity: int, value: Value, graph: GraphPaths, bounds: Bounds, counts: TemplateCounts
) -> None:
    predicates = graph.near(entity, value, _same(value, bounds.digits))
    for predicate in predicates.tolist():
        counts.add(template, path_text([(graph.term(predicate), False)]), 1 / len(predicates))


def _same(value: Value, digits: int) -> SameValue:
    """Which literals count as the value: dates and years exactly, other numbers nearly."""
    year = isinstance(value, float) and value.is_integer() and 1000 <= value < 2100  # 1 % of it is 20 years
    if digits and isinstance(value, float) and not year:
        return partial(same_digits, digits=digits)
    return partial(near, tolerance=NEAR if isinstance(value, float) and not year else 0.0)


def _entity_pairs(mention: MentionSpan, other: MentionSpan, most: int) -> list[tuple[int, int]]:
    """Pairs of different entities: from an entity to itself any fact and its inverse would be a path."""
    return [(a, b) for a in mention.entities[:most] for b in other.entities[:most] if a != b]


def _count(template: str, pair: tuple[int, int], graph: GraphPaths, longest: int, counts: TemplateCounts) -> bool:
    """Add the paths between two entities. Returns whether there are any."""
    paths = graph.paths(*pair, longest=longest)
    for path in paths:
        counts.add(template, path_text((graph.term(step.predicate), step.inverse) for step in path), 1 / len(paths))
    return bool(paths)


def _chunks(pairs: Iterable[QuestionAnswers], size: int) -> Iterator[list[QuestionAnswers]]:
    rest = iter(pairs)
    while chunk := list(islice(rest, size)):
        yield chunk


# ------------------------------------------------------------------------------------------------------ processes

_TOOLS: Tools | None = None  # of a process of the pool


def _start(open_tools: Callable[[], Tools]) -> None:
    global _TOOLS
    _TOOLS = open_tools()


def _work(pairs: Sequence[QuestionAnswers], bounds: Bounds) -> Mined:
    assert _TOOLS is not None
    return mine_chunk(pairs, _TOOLS, bounds)


def _results(
    chunks: Iterable[Sequence[QuestionAnswers]], open_tools: Callable[[], Tools], bounds: Bounds, processes: int
) -> Iterator[Mined]:
    """Results in the order of chunks, which are read a few ahead."""
    if processes == 1:
        tools = open_tools()
        yield from (mine_chunk(pairs, tools, bounds) for pairs in chunks)
        return
    context = multiprocessing.get_context("spawn")  # a fork could copy locked locks
    with ProcessPoolExecutor(processes, context, _start, (open_tools,)) as pool:
        waiting: list[Future[Mined]] = []
        for pairs in chunks:
            waiting.append(pool.submit(_work, pairs, bounds))
            if len(waiting) > 2 * processes:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


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
