"""`kg mine`: from pairs of questions and answers to a table of templates and the relations they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kg_index.answers.graph_words import Vocabulary
from kg_index.relations.keywords import KeywordMatcher, PredicateWords
from kg_index.relations.template_text import NO_PATH, path_steps
from kg_index.relations.templates import KNOWN, TemplateTable
from kg_index.training import mining
from kg_index.training.mapping_weights import f_weights, k_weights
from kg_index.training.mining_tools import open_tools
from qa_bot.documents.graph import MENTIONS, TRIPLES, Graph, GraphError, Progress, open_graph
from qa_bot.documents.ingest.records import Record
from qa_bot.home.folder import Home
from qa_core.types import FloatArray
from qa_lab.train.data.pairs import items, pair_of

TEMPLATES = "templates.tsv"
"""All templates that `mine` counted; `KNOWN` holds those that answers use: one predicate, `F × K > 0`."""


@dataclass(frozen=True, slots=True)
class MinedTemplates:
    """What mining came to (thesis, table 4.1)."""

    pairs: int
    with_mentions: int  # pairs with an entity on both sides
    templates: int
    mappings: int  # of a template and a relation, or "no path found"
    with_path: int
    sharing_words: int  # mappings whose template and relation share a word
    known: int  # templates that answers rely on
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
    with open_graph(home) as graph:
        folder = graph.folder
        tools = partial(open_tools, mentions=folder / MENTIONS, triples=folder / TRIPLES)
        asked = islice(_pairs(paths), limit)
        for last in mining.mine(asked, tools, file, bounds=mining.Bounds(longest=longest), processes=processes):
            progress(last.pairs, "mining")
        words = PredicateWords(labels=_labels(graph))
    if last is None:
        raise GraphError(f"Expected pairs of questions and answers in {', '.join(map(str, paths))}, but got none.")
    table = TemplateTable.load(file)
    found = np.array([relation != NO_PATH for relation in table.relations])[table.relation]  # (E,)
    weights = k_weights(table, KeywordMatcher(words).overlap)
    shared, silent = int((weights[found] > 0).sum()), int((~found).sum())
    known = relied_on(table, f_weights(table) * weights)
    known.save(out / KNOWN)
    return MinedTemplates(
        last.pairs,
        last.with_mentions,
        len(table),
        len(table.relation),
        len(table.relation) - silent,
        shared,
        len(known),
        len(table.relations) - bool(silent),
        round(last.seconds, 3),
    )


def _labels(graph: Graph) -> dict[str, str]:
    """All names of the predicates that have some."""
    vocabulary, triples = Vocabulary(graph.triples), graph.triples
    named = ((p, vocabulary.names(p)) for p in triples.predicate_counts()[0].tolist())
    return {triples.term(p): " ".join(names.texts) for p, names in named if names.from_graph}


def relied_on(table: TemplateTable, weights: FloatArray) -> TemplateTable:
    """Templates with a mapping of weight above 0 (E,) to a single predicate: those mappings, and "no path found"."""
    single = np.array([len(path_steps(relation)) == 1 and relation != NO_PATH for relation in table.relations])
    kept = single[table.relation] & (weights > 0)
    owners = table.owners()
    known = np.zeros(len(table), dtype=bool)
    known[owners[kept]] = True
    silent = np.array([relation == NO_PATH for relation in table.relations])[table.relation]
    kept |= silent & known[owners]
    return TemplateTable.of(row for row, keep in zip(table.rows(), kept.tolist(), strict=True) if keep)


def _pairs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for item in items(paths):
        if isinstance(item, Record) and (pair := pair_of(item)):
            yield pair.question, pair.answer
