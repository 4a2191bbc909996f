"""The trace of an answer: queries, lists, candidates with every score, confidence and models, as a JSON object.

`note_counts` is its short form, for logs and traces of other programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qa_bot.answering.models.ranker_loading import ConfiguredRankers
from qa_bot.answering.observation.stage_log import StageLog
from qa_bot.answering.stages.decide import Decided, Decision
from qa_bot.answering.stages.rank import Ranking
from rankers.combination import LEARNED
from retrievers.formulate import DENSE_WEIGHT, WeightedQuery

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import Facts

TERMS = 100
"""Terms of a query, and words of a cover, in a trace; hundreds of traces are kept in memory for later votes."""


def answer_trace(
    decided: Decided, *, encoder: str | None, rankers: ConfiguredRankers, facts: Facts | None
) -> dict[str, object]:
    """The trace of a decided answer; `encoder` is the name of the encoder that was searched with."""
    names = [model.name for model in rankers.models] + [LEARNED] * (rankers.fusion is not None)
    models: dict[str, object] = {"encoder": encoder, "rankers": names}
    if decided.ranking.challenger:
        models["challenger"] = decided.ranking.challenger
    trace = {**ranking_trace(decided.ranking, decided.decision), "models": models}
    if decided.ranking.covers:
        trace["covers"] = {id_: dict(cover.words[:TERMS]) for id_, cover in decided.ranking.covers.items()}
    if decided.fact is not None and facts is not None:
        trace["facts"] = facts.trace(decided.fact)
    return trace


def ranking_trace(ranking: Ranking, decision: Decision) -> dict[str, object]:
    return {
        "queries": [_query_json(query) for query in ranking.formulation.keyword]
        + [{"name": "dense", "weight": DENSE_WEIGHT, "text": ranking.formulation.text}],
        "lists": {ranked.name: len(ranked.ranked.documents) for ranked in ranking.lists},
        "candidates": [
            {
                "document": candidate.passage.source.document,
                "passage": candidate.passage.id,
                "score": candidate.score,
                **candidate.signals.by_name(),
            }
            for candidate in ranking.candidates
        ],
        "confidence": decision.features,
    }


def note_counts(log: StageLog | None, decided: Decided) -> None:
    """Add the counts of an answer to its stages; does nothing without a log."""
    if log is None:
        return
    ranking = decided.ranking
    by_engine = {"keyword": 0, "dense": 0}
    for ranked in ranking.lists:
        by_engine[ranked.engine] += len(ranked.ranked.documents)
    log.count("formulate", {"queries": len(ranking.formulation.keyword)})
    for engine, count in by_engine.items():
        log.count(engine, {"candidates_out": count})
    log.count("rank", {"candidates_in": sum(by_engine.values()), "candidates_out": len(ranking.candidates)})
    log.count("verify", {"candidates_in": len(ranking.candidates), "passages_read": len(ranking.covers)})
    log.count("decide", {"candidates_in": len(ranking.candidates), "verdict": decided.verdict})


def _query_json(weighted: WeightedQuery) -> dict[str, object]:
    query = weighted.query
    return {
        "name": weighted.name,
        "weight": weighted.weight,
        "field": query.field,
        "terms": dict(query.terms[:TERMS]),
        "phrases": [" ".join(pair) for pair, _, _ in query.phrases[:TERMS]],
    }
