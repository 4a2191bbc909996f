"""`kg mine`: mines templates and their relations from pairs of questions and answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Literal

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
from qa_lab.data.pairs import items, pair_of

TEMPLATES = "templates.tsv"
"""File of all mined templates; `KNOWN` is the file of those that answers use."""
Preset = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class MiningChoices:
    """What Wang (2018), ch. 4.3, leaves open or what we do otherwise."""

    nested: bool = True  # names within longer names make templates too
    digits: int = 0  # significant digits in which numbers must agree; 0: within 1 %
    plain_words: bool = False  # K counts words as written, else stems without stop words
    all_known: bool = False  # answers use all templates, else the supported mappings to one predicate
    least: float = 3.0  # C[r, T] of a supported mapping whose words do not overlap
    likely: float = 0.1  # p(r|T) of such a mapping


PRESETS: dict[Preset, MiningChoices] = {
    "default": MiningChoices(),
    "paper": MiningChoices(digits=3, plain_words=True, all_known=True),
}


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
    choices: MiningChoices | None = None,
    longest: int = 2,
    processes: int = 2,
    limit: int | None = None,
    progress: Progress = lambda _done, _doing: None,
) -> MinedTemplates:
    """Mine pairs of questions and answers into `out`/templates.tsv and `out`/known.tsv.

    Args:
        choices: by default those of `PRESETS["default"]`.
        longest: maximum steps of a path between two entities, 1 or 2.
        limit: maximum number of pairs.

    Raises GraphError if there is no graph, or the paths hold no pairs.
    """
    chosen = choices or PRESETS["default"]
    file, last = out / TEMPLATES, None
    with open_graph(home) as graph:
        folder = graph.folder
        tools = partial(open_tools, mentions=folder / MENTIONS, triples=folder / TRIPLES, nested=chosen.nested)
        pairs, bounds = islice(question_answers(paths), limit), mining.Bounds(longest=longest, digits=chosen.digits)
        if (first := next(pairs, None)) is None:
            raise GraphError(f"Expected pairs of questions and answers in {', '.join(map(str, paths))}, but got none.")
        out.mkdir(parents=True, exist_ok=True)
        for last in mining.mine(chain([first], pairs), tools, file, bounds=bounds, processes=processes):
            progress(last.pairs, "mining")
        words = PredicateWords(labels=_labels(graph))
    assert last is not None, "a pair was mined"
    table = TemplateTable.load(file)
    has_path = np.array([relation != NO_PATH for relation in table.relations], dtype=bool)[table.relation]  # (E,)
    weights = k_weights(table, KeywordMatcher(words, plain=chosen.plain_words).overlap)
    shared, silent = int((weights[has_path] > 0).sum()), int((~has_path).sum())
    known = table if chosen.all_known else known_templates(table, f_weights(table) * weights, chosen)
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


def known_templates(table: TemplateTable, weights: FloatArray, choices: MiningChoices) -> TemplateTable:
    """Supported mappings to a single predicate, and "no path found" of the same templates.

    A mapping is supported by words, with a positive weight (E,), or by counts: `C[r, T]` and `p(r|T)` are at least
    `choices.least` and `choices.likely`.
    """
    single = np.array(
        [len(path_steps(relation)) == 1 and relation != NO_PATH for relation in table.relations], dtype=bool
    )
    counted = (table.count >= choices.least) & (table.probabilities() >= choices.likely)
    chosen = single[table.relation] & ((weights > 0) | counted)
    owners = table.owners()
    known = np.zeros(len(table), dtype=bool)
    known[owners[chosen]] = True
    silent = np.array([relation == NO_PATH for relation in table.relations], dtype=bool)[table.relation]
    chosen |= silent & known[owners]
    return TemplateTable.of(row for row, keep in zip(table.rows(), chosen.tolist(), strict=True) if keep)


def question_answers(paths: Sequence[Path]) -> Iterator[mining.QuestionAnswers]:
    """Questions with their answers; the `answers` of a line of JSON stay together, as they may name the same entity."""
    records = (item for item in items(paths) if isinstance(item, Record))
    pairs = ((record.where, pair) for record in records if (pair := pair_of(record)))
    for (_, question), group in groupby(pairs, key=lambda row: (row[0], row[1].question)):
        yield mining.QuestionAnswers(question, tuple(pair.answer for _, pair in group))
