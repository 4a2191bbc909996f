"""The trace of an answer: queries, lists, candidates with every score, confidence and models, as a JSON object."""

from __future__ import annotations

from qa_bot.answering.stages.decide import Decision
from qa_bot.answering.stages.rank import Ranking
from retrievers.formulate import DENSE_WEIGHT, WeightedQuery


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


def _query_json(weighted: WeightedQuery) -> dict[str, object]:
    query = weighted.query
    return {
        "name": weighted.name,
        "weight": weighted.weight,
        "field": query.field,
        "terms": dict(query.terms),
        "phrases": [" ".join(pair) for pair, _, _ in query.phrases],
    }
