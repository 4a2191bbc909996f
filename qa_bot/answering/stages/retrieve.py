"""Retrieve: keyword and dense search side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Deadline
from qa_core.text.analysis import terms
from qa_core.types import Encoder, FloatArray
from retrievers.engines.index import Index, KeywordQuery, View
from retrievers.expansion import rm3
from retrievers.formulate import DENSE_WEIGHT, Formulation
from retrievers.fusion import ScoredDocuments
from retrievers.hits import Hits

SearchMode = Literal["keyword", "dense", "hybrid"]
Engine = Literal["keyword", "dense"]

PASSAGES = 2
"""Passages requested for each document: some documents have several among the best."""


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
) -> Found:
    """ScoredDocuments lists of up to `depth` documents by each engine that finishes in time.

    Args:
        encoder: None if the index was made by another encoder; then only keywords are searched.
        feedback: passages of pseudo-relevance feedback (RM3); 0 for none.
    """
    works: dict[str, Callable[[Deadline], Found]] = {}
    if mode != "keyword" and encoder is not None:
        works["dense"] = lambda share: _dense(index, encoder, formulation, depth, share)
    if mode != "dense":
        works["keyword"] = lambda _: _keyword(index, formulation, depth, feedback)
    quick = ["dense"] if encoder is not None and encoder.quick else []
    merged = Found()
    for part in clock.run_parallel(works, Found(), quick=quick).values():
        merged |= part
    return merged


def _keyword(index: Index, formulation: Formulation, depth: int, feedback: int) -> Found:
    lists: list[RankedList] = []
    passages: dict[int, int] = {}
    for weighted in formulation.keyword:
        limit = depth if weighted.query.field == "title" else PASSAGES * depth
        hits = index.keyword_hits(_expanded(index, weighted.query, feedback), limit)
        best = hits.distinct()
        if weighted.query.field == "all":
            passages = {**best.passage_of(), **passages}
        lists.append(_ranked_list(weighted.name, "keyword", weighted.weight, best, complete=len(hits) < limit))
    return Found(tuple(lists), passages)


def _expanded(index: Index, query: KeywordQuery, feedback: int) -> KeywordQuery:
    """A query of the text, expanded by words of the passages that it finds first (RM3)."""
    if not feedback or query.field != "all":
        return query
    hits = index.keyword_hits(query, feedback)
    documents = hits.documents.tolist()
    nearest = index.best_passages(documents, None, hits.passage_of())
    texts = [terms(nearest[document].passage.text) for document in documents]
    return replace(
        query, terms=rm3([term for term, _ in query.terms], [*zip(texts, hits.scores.tolist(), strict=True)])
    )


def _dense(index: Index, encoder: Encoder, formulation: Formulation, depth: int, deadline: Deadline) -> Found:
    if not formulation.text:
        return Found()
    queries = encoder.encode([formulation.text], side="question")  # (1, D)
    deadline.check()
    titles = _nearest(index, "titles", queries, depth)
    deadline.check()
    bodies = _nearest(index, "bodies", queries, PASSAGES * depth)
    return Found((titles, bodies), query=queries[0])


def _nearest(index: Index, view: View, queries: FloatArray, limit: int) -> RankedList:
    """Documents by the similarity of their titles, or of their best passages, to the question (1, D)."""
    (hits,) = index.dense_hits(view, queries, limit)
    return _ranked_list(f"dense:{view}", "dense", DENSE_WEIGHT, hits.distinct(), complete=len(hits) < limit)


def _ranked_list(name: str, engine: Engine, weight: float, best: Hits, *, complete: bool) -> RankedList:
    """Documents at their best passages; in a complete list every other document scores 0."""
    return RankedList(
        name, engine, weight, ScoredDocuments.of(best.documents, best.scores), floor=0.0 if complete else None
    )
