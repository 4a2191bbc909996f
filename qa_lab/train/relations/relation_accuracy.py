"""Accuracy of relation scorers on held-out questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_scorers import RelationScorer
from qa_core.types import FloatArray


def accuracy(scorer: RelationScorer, questions: Sequence[PoolQuestion]) -> float:
    """Share of the questions whose right relation has the highest score, without ties."""
    return accuracy_of(scorer.score([q.template for q in questions], [q.pool for q in questions]), questions)


def accuracy_of(scores: Sequence[FloatArray], questions: Sequence[PoolQuestion]) -> float:
    """Accuracy of given scores (P,) for each pool."""
    right = [
        bool(row[question.gold_index] == row.max() and (row == row.max()).sum() == 1)
        for question, row in zip(questions, scores, strict=True)
    ]
    return float(np.mean(right))
