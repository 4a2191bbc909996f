"""A relation scorer with a tuned encoder of questions, as `kg_index.training.question_tuning` trains it."""

from __future__ import annotations

from dataclasses import dataclass

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.relation_scorers import CosineScorer, Encode, WeightedSumScorer


@dataclass(frozen=True, slots=True)
class TunedConfig:
    """The encoders of a saved scorer; its weights are the two factors."""

    encoder: str  # name of the frozen encoder of relations
    fingerprint: str  # of the frozen encoder
    questions: str  # fingerprint of the tuned encoder


def tuned_scorer(questions: Encode, relations: Encode, *, scale: float, keywords: float) -> WeightedSumScorer:
    """The scorer of a tuned encoder of questions and the frozen encoder of relations."""
    return WeightedSumScorer([(CosineScorer(questions, encode_words=relations), scale), (KeywordMatcher(), keywords)])
