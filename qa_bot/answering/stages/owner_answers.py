"""What the owner wrote comes first: an answer if exactly its question is asked, and documents before the starter's.

An owner's answer is a document of the collection `answers` whose id is the key of its question. For other questions it
is a document like any other.

The starter collection answers if it is confident, has a question that is much like the asked one, and the owner's
documents refuse or are unsure, or if their best passage has less of the question's words and meaning: a home with three
documents is too small to know that they answer something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from qa_bot.answering.confidence.calibration import Features
from qa_bot.home.question_key import question_key
from qa_core.types import Candidate, Question

COLLECTION = "answers"
"""The collection of the owner's answers."""
LEAD = 1.2
"""Factor over the best document's score: enough that tiling takes nothing else (`opinions.NEAR_BEST`)."""
STARTER_CONFIDENCE = 0.7
"""Confidence from which on the starter collection answers in place of the owner's documents."""
ALIKE = 0.5
"""Cosine of a starter's question with the asked one from which on it may answer in place of the owner's documents.

Beside three collections the starter answers 112 everyday questions, 101 of them right; this takes 5 right and 2 wrong
ones. Of 32 further questions to a handbook it answered "can I accept a gift from a vendor?" by how to recognise a fake
shop, and no longer does; it still answers "when do I get paid?" by how to ask for a pay rise, at .59.
"""
SHARED, SHARED_OF_NEAR = 0.5, 0.25
"""Share of the words of a starter's question that the asked one has, by their idf.

The second is enough if the starter's passage has all words of the asked question, or its question is `NEAR` it. Beside
a company's documents the starter gave 22 wrong answers to 1,300 questions of 22 other sets and 80 of customers, such as
how to wash a jumper for "how do I wash the woollen filter"; this leaves 13, and takes 6 of 86 right answers to everyday
questions.
"""
NEAR = 0.7
ALL_WORDS = 0.95
MORE_WORDS, MORE_MEANING = 0.1, 0.2
"""Gain in coverage and in similarity from which on a starter's passage fits better than the owner's best one.

Mean score of seven collections beside the starter, for their own and for everyday questions, before the rule .584 and
.168: if the starter answers whatever is refused .548 and .515, with a confidence of .7 .577 and .594, and also where it
fits better .577 and .717, with no right answer of the owner's documents lost.
"""


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


def may_answer(verdict: str, starter: Features, confidence: float) -> bool:
    """Whether the starter's answer is sure enough, and a fact or the answer to a question like this."""
    is_alike = verdict == "passage" and starter.get("title_similarity", 0.0) >= ALIKE and _shares_words(starter)
    return confidence >= STARTER_CONFIDENCE and (is_alike or verdict == "fact")


def has_alike(starters: Sequence[Candidate]) -> bool:
    """Whether a passage of the starter is the answer to a question like the asked one, so that it may answer."""
    return any((candidate.signals.title_similarity or 0.0) >= ALIKE for candidate in starters)


def _shares_words(starter: Features) -> bool:
    """Whether the starter's question is about what the asked one is about."""
    shared = starter.get("title_shared", 0.0)
    is_near = starter.get("title_similarity", 0.0) >= NEAR or starter.get("coverage", 0.0) >= ALL_WORDS
    return shared >= (SHARED_OF_NEAR if is_near else SHARED)


def lacks_words(features: Features) -> bool:
    """Whether a passage lacks so much of the question that a passage of the starter collection may fit better."""
    return features.get("coverage", 0.0) + MORE_WORDS < 1


def fits_better(starter: Features, owners: Features) -> bool:
    """Whether a passage of the starter collection has clearly more of the question's words and meaning."""
    gains = {name: starter.get(name, 0.0) - owners.get(name, 0.0) for name in ("coverage", "passage_similarity")}
    return gains["coverage"] > MORE_WORDS and gains["passage_similarity"] > MORE_MEANING
