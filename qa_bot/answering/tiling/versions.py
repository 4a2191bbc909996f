"""Versions of one statement: an older passage that gives other figures than the current one.

The current figure is the answer; the older one follows it with its date, and is never glued to it as if both held.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_bot.answering.verification.latest import date_in_series, months_of
from qa_bot.answering.wording.former import formerly
from qa_core.text.analysis import STOP_TERMS, terms
from qa_core.text.markdown_text import plain_text
from qa_core.types import Candidate, Passage

ALIKE = 0.6
"""Share of the words of the shorter lead that both leads have, for the same statement."""
FEWEST = 2
"""Words that both leads have."""
ALIKE_BY_DATE = 0.8
"""The same if only the dates of the documents say which is older; they also have one heading."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_UNTIL = re.compile(
    r"\b(?:until|till|up to|bis|jusqu'en|hasta|fino al?)\s+(?:\w+\s+){0,2}?((?:19|20)\d\d)\b", re.IGNORECASE
)


class Versions(NamedTuple):
    """The current version of a statement and an older one."""

    current: Candidate
    older: Candidate

    def former(self, question: str) -> str:
        """The older statement in plain text, after its date, in the language of the question."""
        older, current = self.older.passage, self.current.passage
        date = older.source.details.date
        is_dated = "" < date[:10] < current.source.details.date[:10]
        label = formerly(question, year=year_of_end(older), date=date if is_dated else "")
        text = _in_one_line(_lead(self.older))
        return text if _UNTIL.search(text) else label + text


def versions_of(best: Candidate, others: Sequence[Candidate], question: str) -> Versions | None:
    """The best passage with an older version of it, or a newer one with the best passage as the older version.

    A question that names the year of the best passage, or its month, asks for that version.
    """
    if not _names_its_time(question, best.passage):
        for other in others:
            if _is_older(best.passage, other.passage) and _conflict(best, other) and _answers(question, other, best):
                return Versions(other, best)
    for other in others:
        if _is_older(other.passage, best.passage) and _conflict(other, best):
            return Versions(best, other)
    return None


def year_of_end(passage: Passage) -> str:
    """The year until which a passage, its headings or its title say that it held; "" if they do not."""
    year = _UNTIL.search(" ".join((passage.source.title, *passage.place.heading, passage.text)))
    return year[1] if year else ""


def _names_its_time(question: str, passage: Passage) -> bool:
    """Whether a question names a year that a passage, its title or its date names, or the month of its date."""
    text = " ".join((passage.source.title, *passage.place.heading, passage.source.details.date, passage.text))
    date = date_in_series(passage)
    return any(year in text for year in _YEAR.findall(question)) or date[5:7] in {
        f"{month:02}" for month in months_of(question)
    }


def _is_older(one: Passage, other: Passage) -> bool:
    """Whether a passage is archived, has ended or has an earlier date, and the other is of another document."""
    if one.source == other.source:
        return False
    mine, its = one.source.details, other.source.details
    if mine.archived != its.archived:
        return mine.archived
    if bool(year_of_end(one)) != bool(year_of_end(other)):
        return bool(year_of_end(one))
    return _same_heading(one, other) and "" < mine.date[:10] < its.date[:10]


def _conflict(older: Candidate, newer: Candidate) -> bool:
    """Whether two leads are the same statement with different numbers."""
    texts = [_lead(older), _lead(newer)]
    numbers = [set(_NUMBER.findall(text)) for text in texts]
    words = [set(_WORD.findall(text.casefold())) - STOP_TERMS for text in texts]
    fewest = min(map(len, words))
    if not all(numbers) or numbers[0] == numbers[1] or not fewest:
        return False
    marked = older.passage.source.details.archived or year_of_end(older.passage)
    share = ALIKE if marked else ALIKE_BY_DATE
    return len(words[0] & words[1]) >= max(FEWEST, share * fewest)


def _answers(question: str, newer: Candidate, older: Candidate) -> bool:
    """Whether a newer passage has at least half of the question's words that the older one has.

    "A berth costs 14 euros" is no newer version of "Winter storage costs 9 euros" if the question is about storage.
    """
    question_terms = set(terms(question)) - STOP_TERMS
    texts = (" ".join((one.source.title, *one.place.heading, one.text)) for one in (newer.passage, older.passage))
    newer_terms, older_terms = (question_terms & set(terms(text)) for text in texts)
    return 2 * len(newer_terms & older_terms) >= len(older_terms)


def _lead(candidate: Candidate) -> str:
    lead = candidate.signals.lead
    return candidate.passage.text[slice(*lead)] if lead else candidate.passage.text


def _same_heading(one: Passage, other: Passage) -> bool:
    names = [(passage.place.heading or (passage.source.title,))[-1].casefold() for passage in (one, other)]
    return names[0] == names[1] != ""


def _in_one_line(text: str) -> str:
    """Plain text in one line; the cells of a row are separated by commas."""
    lines = [line for line in text.splitlines() if line.strip() and not set(line) <= set("|-: ")]
    cells = [", ".join(filter(None, (cell.strip() for cell in line.split("|")))) for line in lines]
    return " ".join(plain_text("; ".join(cells) if text.startswith("|") else text).split())
