"""Answers that the owner wrote: each goes before all documents where its very question is asked.

Such an answer is a document of the collection `answers` whose id is the key of its question. Where another question is
asked it is a document like all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from qa_bot.home.question_key import question_key
from qa_core.types import Candidate, Question

COLLECTION = "answers"
"""Where the owner's answers stand, beside collections that come from files."""
LEAD = 1.2
"""How far an answer goes before the best document: as far as it takes to be the whole answer, see
`qa_bot.answering.stages.tiling`."""


def owned_first(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, best first, with the owner's answer to this very question before all others."""
    key = question_key(question.title)
    sources = [each.passage.source for each in candidates]
    found = [i for i, each in enumerate(sources) if (each.collection, each.document) == (COLLECTION, key)]
    owned = [candidates[i].scored(max(1.0, LEAD * candidates[0].score), owner_answer=True) for i in found]
    return [*owned, *(each for i, each in enumerate(candidates) if i not in found)]


def is_owned(candidate: Candidate) -> bool:
    """Whether `owned_first` found that the owner wrote this for the question."""
    return candidate.signals.owner_answer
