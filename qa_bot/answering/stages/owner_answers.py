"""Answers that the owner wrote: each goes before all documents where its very question is asked.

Such an answer is a document of the collection `answers` whose id is the key of its question. Where another question is
asked it is a document like all others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from qa_core.types import Candidate, Question

COLLECTION = "answers"
"""Where the owner's answers stand, beside collections that come from files."""
LEAD = 1.2
"""How far an answer goes before the best document: as far as it takes to be the whole answer, see
`qa_bot.answering.stages.tiling`."""
OWNED = "owned"
"""Name of that among a candidate's scores."""

_ENDS = ".?!…。．？！؟ "
_UNSTORABLE = re.compile("[\x00\ud800-\udfff\ufffd]")  # the same question before and after a database had it


def question_key(question: str) -> str:
    """The same for all spellings that differ in case, blanks and end punctuation alone."""
    blank = " ".join(_UNSTORABLE.sub(" ", question.casefold()).split())
    return blake2b((blank.rstrip(_ENDS) or blank).encode(), digest_size=16).hexdigest()


def owned_first(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, best first, with the owner's answer to this very question before all others."""
    key = question_key(question.title)
    sources = [each.passage.source for each in candidates]
    found = [i for i, each in enumerate(sources) if (each.collection, each.document) == (COLLECTION, key)]
    owned = [candidates[i].scored(OWNED, max(1.0, LEAD * candidates[0].score)) for i in found]
    return [*owned, *(each for i, each in enumerate(candidates) if i not in found)]


def is_owned(candidate: Candidate) -> bool:
    """Whether `owned_first` found that the owner wrote this for the question."""
    return OWNED in candidate.features
