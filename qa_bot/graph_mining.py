"""`kg mine`: from pairs of questions and answers to a table of templates and the relations they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from kg_index import mining
from kg_index.keywords import KeywordMatcher
from kg_index.mining_tools import open_tools
from kg_index.template_text import NO_PATH
from kg_index.templates import TemplateTable
from qa_bot.graph import MENTIONS, TRIPLES, GraphError, Progress, opened
from qa_bot.home import Home
from qa_bot.ingest.records import Record
from qa_bot.training.pairs import items, pair_of

TEMPLATES = "templates.tsv"
"""What `mine` writes."""


@dataclass(frozen=True, slots=True)
class MinedTemplates:
    """What mining came to (thesis, table 4.1)."""

    pairs: int
    with_mentions: int  # pairs with an entity on both sides
    templates: int
    mappings: int  # of a template and a relation, or "no path found"
    with_path: int
    sharing_words: int  # mappings whose template and relation share a word
    relations: int  # paths of predicates
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"pairs_per_second": round(self.pairs / max(self.seconds, 1e-9), 1)}


def mine(
    home: Home,
    paths: Sequence[Path],
    out: Path,
    *,
    longest: int = 2,
    processes: int = 2,
    limit: int | None = None,
    progress: Progress = lambda _done, _doing: None,
) -> MinedTemplates:
    """Learn from pairs of questions and answers which relations templates ask for; `out` gets `templates.tsv`.

    Args:
        longest: steps of a path between two entities, 1 or 2.
        limit: pairs that are read.

    Raises GraphError without a graph, and where the paths hold no pairs.
    """
    out.mkdir(parents=True, exist_ok=True)
    file, last = out / TEMPLATES, None
    with opened(home) as graph:
        folder = graph.folder
        tools = partial(open_tools, mentions=folder / MENTIONS, triples=folder / TRIPLES)
        asked = islice(_pairs(paths), limit)
        for last in mining.mine(asked, tools, file, bounds=mining.Bounds(longest=longest), processes=processes):
            progress(last.pairs, "mining")
    if last is None:
        raise GraphError(f"Expected pairs of questions and answers in {', '.join(map(str, paths))}, but got none.")
    table, matcher = TemplateTable.load(file), KeywordMatcher()
    shared = sum(matcher.overlap(row.template, row.relation) > 0 for row in table.rows() if row.relation != NO_PATH)
    silent = sum(row.relation == NO_PATH for row in table.rows())
    return MinedTemplates(
        last.pairs,
        last.with_mentions,
        len(table),
        len(table.relation),
        len(table.relation) - silent,
        shared,
        len(table.relations) - bool(silent),
        round(last.seconds, 3),
    )


def _pairs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for item in items(paths):
        if isinstance(item, Record) and (pair := pair_of(item)):
            yield pair.question, pair.answer
