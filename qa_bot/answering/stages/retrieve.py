"""Retrieve: keyword and dense search side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Deadline
from qa_core.text.analysis import terms
from qa_core.types import Encoder, FloatArray
from retrievers.engines.index import Filter, Index, KeywordQuery, View
from retrievers.expansion import LikelyAnswers, rm3
from retrievers.formulate import DENSE_WEIGHT, Formulation
from retrievers.fusion import ScoredDocuments
from retrievers.hits import Hits
from retrievers.question_terms import content_words

SearchMode = Literal["keyword", "dense", "hybrid"]
Engine = Literal["keyword", "dense"]

PASSAGES = 2
"""Passages requested for each document: some documents have several among the best."""
ENOUGH_KNOWN, LEAST_UNDERSTANDING = 0.5, 0.05
"""Share of known content words from which on a dense list has its full weight, and the least share of that weight."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """The documents of one query, best first."""

    name: str
    engine: Engine
    weight: float  # in fusion
    ranked: ScoredDocuments
    floor: float | None = None  # score of a document that a complete list lacks; None if the list was cut

    def cut(self, depth: int) -> RankedList:
        """The first `depth` documents."""
        if len(self.ranked.documents) <= depth:
            return self
        return replace(self, ranked=self.ranked.first(depth), floor=None)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of retrieval."""

    lists: tuple[RankedList, ...] = ()
    passages: dict[int, int] = field(default_factory=dict)  # best passage of a document by keyword search
    query: FloatArray | None = None  # (D,), the encoded question

    def __or__(self, other: Found) -> Found:
        query = self.query if self.query is not None else other.query
        return Found(self.lists + other.lists, {**other.passages, **self.passages}, query)


def retrieve(
    index: Index,
    encoder: Encoder | None,
    formulation: Formulation,
    clock: Clock,
    *,
    mode: SearchMode,
    depth: int,
    feedback: int = 0,
    only: Filter | None = None,
) -> Found:
    """ScoredDocuments lists of up to `depth` documents by each engine that finishes in time.

    Args:
        encoder: None if the index was made by another encoder; then only keywords are searched.
        feedback: passages of pseudo-relevance feedback (RM3); 0 for none.
        only: the documents to search; by default all.
    """
    works: dict[str, Callable[[Deadline], Found]] = {}
    if mode != "keyword" and encoder is not None:
        works["dense"] = lambda share: _dense(index, encoder, formulation, depth, share, only)
    if mode != "dense":
        works["keyword"] = lambda _: _keyword(index, formulation, depth, feedback, only)
    quick = ["dense"] if encoder is not None and encoder.quick else []
    merged = Found()
    for part in clock.run_parallel(works, Found(), quick=quick).values():
        merged |= part
    return merged


def _keyword(index: Index, formulation: Formulation, depth: int, feedback: int, only: Filter | None) -> Found:
    lists: list[RankedList] = []
    passages: dict[int, int] = {}
    for weighted in formulation.keyword:
        limit = depth if weighted.query.field == "title" else PASSAGES * depth
        hits = index.keyword_hits(expanded(index, weighted.query, formulation.likely, feedback, only), limit, only)
        best = hits.distinct()
        if weighted.query.field != "title":
            passages = {**best.passage_of(), **passages}
        lists.append(_ranked_list(weighted.name, "keyword", weighted.weight, best, complete=len(hits) < limit))
    return Found(tuple(lists), passages)


def expanded(
    index: Index, query: KeywordQuery, likely: LikelyAnswers | None, feedback: int, only: Filter | None
) -> KeywordQuery:
    """A query of the text, expanded by words of generated answers, else of the passages that it finds first (RM3)."""
    if query.field != "all" or not query.terms:
        return query
    if likely:
        return replace(query, terms=likely.expanded([term for term, _ in query.terms]))
    if not feedback:
        return query
    hits = index.keyword_hits(query, feedback, only)
    documents = hits.documents.tolist()
    nearest = index.best_passages(documents, None, hits.passage_of())
    passages = [nearest[document].passage for document in documents]
    texts = [terms(passage.text, passage.source.details.language) for passage in passages]
    return replace(
        query, terms=rm3([term for term, _ in query.terms], [*zip(texts, hits.scores.tolist(), strict=True)])
    )


def _dense(
    index: Index, encoder: Encoder, formulation: Formulation, depth: int, deadline: Deadline, only: Filter | None
) -> Found:
    if not formulation.text:
        return Found()
    queries = encoder.encode([formulation.text], side="question")  # (1, D)
    weight = DENSE_WEIGHT * understanding(encoder, formulation)
    deadline.check()
    titles = _nearest(index, "titles", queries, depth, weight, only)
    deadline.check()
    bodies = _nearest(index, "bodies", queries, PASSAGES * depth, weight, only)
    return Found((titles, bodies), query=queries[0])


def understanding(encoder: Encoder, formulation: Formulation) -> float:
    """How far an encoder knows the words of a question, from `LEAST_UNDERSTANDING` to 1.

    An English encoder knows 95 % of the content words of English questions, and under 25 % of those in other
    languages that it has not learnt. If all documents are English, the answer is 1.
    """
    languages = formulation.languages
    if languages.analyses == ("en",) or languages.question == "en":
        return 1.0
    content = content_words(formulation.text, languages)
    known = sum(map(encoder.knows, content)) / max(1, len(content))
    return min(1.0, max(LEAST_UNDERSTANDING, known / ENOUGH_KNOWN))


def _nearest(
    index: Index, view: View, queries: FloatArray, limit: int, weight: float, only: Filter | None
) -> RankedList:
    """Documents by the similarity of their titles, or of their best passages, to the question (1, D)."""
    (hits,) = index.dense_hits(view, queries, limit, only)
    return _ranked_list(f"dense:{view}", "dense", weight, hits.distinct(), complete=len(hits) < limit)


def _ranked_list(name: str, engine: Engine, weight: float, best: Hits, *, complete: bool) -> RankedList:
    """Documents at their best passages; in a complete list every other document scores 0."""
    return RankedList(
        name, engine, weight, ScoredDocuments.of(best.documents, best.scores), floor=0.0 if complete else None
    )
