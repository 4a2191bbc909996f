"""Ranked documents of a question by one system, as public ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.scope import EVERYTHING, Scope
from qa_bot.answering.stages.rank import Ranking
from qa_bot.answering.stages.retrieve import SearchMode
from qa_core.text.analysis import terms
from qa_core.types import Question
from retrievers.engines.index import Index, KeywordQuery
from retrievers.formulate import question_text

System = Literal["plain", "keyword", "dense", "hybrid"]
"""A search mode of the corridor, or plain BM25 over the keyword index."""

Search = Callable[[Question], list[str]]

DEPTH = 1000
PATIENCE = 600.0
"""Deadline in seconds: an evaluation measures quality, so no stage should be skipped on a busy machine."""
PASSAGES = 3
"""Passages to retrieve per document: several may belong to one document."""


def searcher(corridor: Corridor, system: System, *, depth: int = DEPTH) -> Search:
    """A function from a question to distinct document ids, best first (collections may share ids)."""
    if system == "plain":
        names: dict[int, str] = {}
        return lambda question: plain(corridor.index, question_text(question), names, depth=depth)
    return lambda question: documents(rank(corridor, question, engine=system, depth=depth))


def rank(
    corridor: Corridor,
    question: Question,
    *,
    engine: SearchMode,
    depth: int | None = None,
    verify: bool = False,
    scope: Scope = EVERYTHING,
) -> Ranking:
    """The ranking of the corridor with a long deadline; `depth` defaults to the configured one.

    Args:
        verify: also read the first passages, as before an answer.
        scope: the documents to search.
    """
    clock = corridor.start(Deadline.after(PATIENCE))
    ranking = corridor.rank(question, clock, mode=engine, depth=depth, scope=scope)
    if verify:
        ranking = corridor.verify(ranking, clock, Ask(question, scope=scope))
    assert not ranking.skipped, "the deadline should suffice"
    return ranking


def documents(ranking: Ranking) -> list[str]:
    return list(dict.fromkeys(candidate.passage.source.document for candidate in ranking.candidates))


def plain(index: Index, text: str, names: dict[int, str], *, depth: int = DEPTH) -> list[str]:
    """Documents by BM25 of every word of a text, each by its best passage, without formulation or reranking.

    `names` caches public ids between questions.
    """
    query = KeywordQuery(tuple((term, 1.0) for term in terms(text)))
    best = index.keyword_hits(query, PASSAGES * depth).distinct().passage_of()
    internal = list(best)[:depth]
    unknown = [document for document in internal if document not in names]
    for document, nearest in index.best_passages(unknown, None, best).items():
        names[document] = nearest.passage.source.document
    return list(dict.fromkeys(names[document] for document in internal))
