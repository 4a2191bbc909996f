"""The clause of a long sentence that answers: rules join several statements by semicolons.

"Planen und Schirme sind … einzuholen; in den Gängen ist eine Durchfahrt von 3,50 Metern freizuhalten": a question for
the second begins its answer there. What precedes it follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qa_bot.answering.tiling.leads.cited_place import with_page
from qa_bot.answering.verification.amounts import asks_how_much, has_amount, lacks_amount
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import plain_text
from qa_core.types import Candidate, Span
from retrievers.question_terms import content_terms

LONG = 300
"""Characters of a lead from which on it begins with a later clause: a reader sees a shorter one at once."""
AMOUNT = 2
"""Words of the question that the amount counts as which the question asks for."""
_END = re.compile(r";\s+(?=\S)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s", re.MULTILINE)


def with_named_clause(candidate: Candidate, question: str) -> Candidate:
    """A candidate whose long lead begins with the clause that has most of the question, if an earlier one has less."""
    text, lead = candidate.passage.text, candidate.signals.lead
    if lead is None or lead[1] - lead[0] <= LONG or candidate.signals.owner_answer:
        return candidate
    if text.startswith("|", lead[0]) or _ITEM.search(text[slice(*lead)].partition("\n")[2]):
        return candidate
    clauses = [*_clauses(text, lead)]
    language = analysis_language(candidate.passage.source.details.language)
    of_question = set(content_terms(question, language))

    def fit(clause: Span) -> int:
        words = plain_text(text[slice(*clause)])
        return len(of_question.intersection(terms(words, language))) + AMOUNT * _has_asked_amount(question, words)

    start, _ = max(clauses, key=fit)  # the first of equal ones
    passage = replace(candidate.passage, place=with_page(candidate.passage.place, start))
    return replace(candidate, passage=passage, signals=replace(candidate.signals, lead=(start, lead[1])))


def is_clause(text: str, start: int) -> bool:
    """Whether a stretch of a text begins behind a semicolon."""
    return text[:start].rstrip(" ").endswith(";")


def _clauses(text: str, lead: Span) -> Iterator[Span]:
    start = lead[0]
    for match in _END.finditer(text, *lead):
        yield start, match.start() + 1
        start = match.end()
    yield start, lead[1]


def _has_asked_amount(question: str, words: str) -> bool:
    """Whether a plain text has the amount, the time or the number that a question asks for, if it asks for one."""
    return not lacks_amount(question, words) and (
        lacks_amount(question, "") or (asks_how_much(question) and has_amount(words))
    )
