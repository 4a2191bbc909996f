"""Answers that the owner wrote: each is ranked first if exactly its question is asked.

Such an answer is a document of the collection `answers` whose id is the key of its question. For other questions it is
a document like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from qa_bot.home.question_key import question_key
from qa_core.types import Candidate, Question

COLLECTION = "answers"
"""The collection of the owner's answers."""
LEAD = 1.2
"""Factor over the best document's score: enough that tiling takes nothing else (`opinions.NEAR_BEST`)."""


def owned_first(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, best first, with the owner's answer to this very question first."""
    key = question_key(question.title)
    is_owners = [(c.passage.source.collection, c.passage.source.document) == (COLLECTION, key) for c in candidates]
    score = max(1.0, LEAD * candidates[0].score) if candidates else 0.0
    first = [c.scored(score, owner_answer=True) for c, owners in zip(candidates, is_owners, strict=True) if owners]
    return [*first, *(c for c, owners in zip(candidates, is_owners, strict=True) if not owners)]


def is_owned(candidate: Candidate) -> bool:
    """Whether the owner wrote this answer to this question."""
    return candidate.signals.owner_answer
