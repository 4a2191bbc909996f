"""How often a scorer of relations is right, while it is trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_scorers import RelationScorer
from qa_core.types import FloatArray


def accuracy(scorer: RelationScorer, questions: Sequence[PoolQuestion]) -> float:
    """Share of the questions whose right relation has the one highest score."""
    return accuracy_of(
        scorer.score([each.template for each in questions], [each.pool for each in questions]), questions
    )


def accuracy_of(scores: Sequence[FloatArray], questions: Sequence[PoolQuestion]) -> float:
    """The same of scores (P,) of each pool."""
    right = [
        bool(own[each.gold_index] == own.max() and (own == own.max()).sum() == 1)
        for each, own in zip(questions, scores, strict=True)
    ]
    return float(np.mean(right))
