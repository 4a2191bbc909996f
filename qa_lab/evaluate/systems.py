"""ScoredDocuments documents of a question by one system, as public ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.stages.rank import Ranking
from qa_bot.answering.stages.retrieve import SearchMode
from qa_core.text.analysis import terms
from qa_core.types import Question
from retrievers.engines.index import Index, KeywordQuery
from retrievers.formulate import question_text

System = Literal["plain", "keyword", "dense", "hybrid"]
"""A search mode of the corridor, or the keyword index asked plainly."""

Search = Callable[[Question], list[str]]

DEPTH = 1000
PATIENCE = 600.0
"""Seconds a question: an evaluation measures quality, so that no stage should be skipped on a busy machine."""
PASSAGES = 3
"""Passages asked for, for each document wanted: several may be of one document."""


def searcher(corridor: Corridor, system: System, *, depth: int = DEPTH) -> Search:
    """A function from a question to documents, best first, each id once (two collections may use the same one)."""
    if system == "plain":
        names: dict[int, str] = {}
        return lambda question: plain(corridor.index, question_text(question), names, depth=depth)
    return lambda question: documents(rank(corridor, question, engine=system, depth=depth))


def rank(corridor: Corridor, question: Question, *, engine: SearchMode, depth: int | None = None) -> Ranking:
    """As the corridor ranks when it has all the time it wants; `depth` is what it serves unless given."""
    ranking = corridor.rank(question, corridor.start(Deadline.after(PATIENCE)), mode=engine, depth=depth)
    assert not ranking.skipped, "there was time enough"
    return ranking


def documents(ranking: Ranking) -> list[str]:
    return list(dict.fromkeys(candidate.passage.source.document for candidate in ranking.candidates))


def plain(index: Index, text: str, names: dict[int, str], *, depth: int = DEPTH) -> list[str]:
    """Documents by BM25 of every word of a text, each at its best passage: no formulation, no second look.

    `names` remembers public ids between questions.
    """
    query = KeywordQuery(tuple((term, 1.0) for term in terms(text)))
    best = index.keyword_hits(query, PASSAGES * depth).distinct().passage_of()
    found = list(best)[:depth]
    unknown = [document for document in found if document not in names]
    for document, nearest in index.best_passages(unknown, None, best).items():
        names[document] = nearest.passage.source.document
    return list(dict.fromkeys(names[document] for document in found))
