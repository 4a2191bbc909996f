"""`kg mine`: mines templates and their relations from pairs of questions and answers."""

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
"""File of all mined templates; `KNOWN` is the file of those that answers use: one predicate, `F × K > 0`."""


@dataclass(frozen=True, slots=True)
class MinedTemplates:
    """Figures of a mining run (Wang (2018), table 4.1)."""

    pairs: int
    with_mentions: int  # pairs with an entity on both sides
    templates: int
    mappings: int  # from a template to a relation or "no path found"
    with_path: int
    sharing_words: int  # mappings whose template and relation share a word
    known: int  # templates that answers use
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
    """Mine pairs of questions and answers into `out`/templates.tsv and `out`/known.tsv.

    Args:
        longest: maximum steps of a path between two entities, 1 or 2.
        limit: maximum number of pairs.

    Raises GraphError if there is no graph, or the paths hold no pairs.
    """
    out.mkdir(parents=True, exist_ok=True)
    file, last = out / TEMPLATES, None
    with open_graph(home) as graph:
        folder = graph.folder
        tools = partial(open_tools, mentions=folder / MENTIONS, triples=folder / TRIPLES)
        pairs = islice(_pairs(paths), limit)
        for last in mining.mine(pairs, tools, file, bounds=mining.Bounds(longest=longest), processes=processes):
            progress(last.pairs, "mining")
        words = PredicateWords(labels=_labels(graph))
    if last is None:
        raise GraphError(f"Expected pairs of questions and answers in {', '.join(map(str, paths))}, but got none.")
    table = TemplateTable.load(file)
    has_path = np.array([relation != NO_PATH for relation in table.relations], dtype=bool)[table.relation]  # (E,)
    weights = k_weights(table, KeywordMatcher(words).overlap)
    shared, silent = int((weights[has_path] > 0).sum()), int((~has_path).sum())
    known = known_templates(table, f_weights(table) * weights)
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
    """Names of the predicates that have any."""
    vocabulary, triples = Vocabulary(graph.triples), graph.triples
    named = ((p, vocabulary.names(p)) for p in triples.predicate_counts()[0].tolist())
    return {triples.term(p): " ".join(names.texts) for p, names in named if names.from_graph}


def known_templates(table: TemplateTable, weights: FloatArray) -> TemplateTable:
    """Mappings with positive weights (E,) to a single predicate, and "no path found" of the same templates."""
    single = np.array(
        [len(path_steps(relation)) == 1 and relation != NO_PATH for relation in table.relations], dtype=bool
    )
    chosen = single[table.relation] & (weights > 0)
    owners = table.owners()
    known = np.zeros(len(table), dtype=bool)
    known[owners[chosen]] = True
    silent = np.array([relation == NO_PATH for relation in table.relations], dtype=bool)[table.relation]
    chosen |= silent & known[owners]
    return TemplateTable.of(row for row, keep in zip(table.rows(), chosen.tolist(), strict=True) if keep)


def _pairs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for item in items(paths):
        if isinstance(item, Record) and (pair := pair_of(item)):
            yield pair.question, pair.answer
