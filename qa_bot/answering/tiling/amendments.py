"""Amendments: documents that change words of another: "In Absatz 2 wird die Angabe „18 Euro“ durch „25 Euro“ ersetzt".

If such a document changes the statement that answers, its clause is the current version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from qa_bot.answering.tiling.step_sections import of_document
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Candidate, Passage
from retrievers.engines.index import Index

CONSIDERED = 10
"""Documents among which an amendment is looked for."""
NAMES = 0.6
"""Share of the words of a title that the title of an amendment has."""
SAME = 60
"""Characters at the beginning of a new version by which a text is known to have it already."""
_AMENDS = re.compile(r"änderung|\bamend(?:ment|ing|s)?\b", re.IGNORECASE)
_SECTION = re.compile(r"(?:§|\b(?:section|clause|rule|article|artikel|ziffer)\b)\s*(\d{1,3}[a-z]?)\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\b(?:Absatz|Abs\.|paragraph|subsection)\s*\(?(\d{1,2}[a-z]?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"^\W{0,4}\((\d{1,2}[a-z]?)\)", re.MULTILINE)
_QUOTE = re.compile(r"[„“”\"»«]")
_QUOTED = re.compile(r"[„“\"»]([^„“”\"»«]{1,2000})[“”\"«]")
_REPLACED = re.compile(
    r"[„“\"»]([^„“”\"»«]{1,200})[“”\"«]\s+(?:durch\b|(?:is|are|shall be) (?:replaced|substituted)\b)", re.IGNORECASE
)
_WHOLE = re.compile(
    r"wie folgt (?:neu )?gefasst|erhält (?:die )?folgende Fassung|lautet (?:nun|künftig|nunmehr|wie folgt)"
    r"|is replaced by the following|is amended to read|(?:shall|now) reads?\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*(?:\d{1,2}\.|[a-z]\)|[-*•])\s+")


class _Clause(NamedTuple):
    """A line that changes a section, and the passage that it is in."""

    section: str
    paragraph: str
    text: str
    passage: Passage


def amended(best: Candidate, candidates: Sequence[Candidate], index: Index) -> Candidate | None:
    """The clause that changes the statement of the best passage, in a document that amends its document."""
    section = next(filter(None, map(_SECTION.search, best.passage.place.heading[::-1])), None)
    if section is None or _AMENDS.search(best.passage.source.title):
        return None
    for candidate in candidates[1:CONSIDERED]:
        if not _is_amendment(candidate.passage, best.passage):
            continue
        for clause in _clauses(of_document(candidate.passage, index)):
            if clause.section == section[1] and _changes(clause, best):
                passage = replace(clause.passage, text=clause.text)
                signals = replace(best.signals, lead=(0, len(clause.text)), units=None, supporting=None)
                return replace(best, passage=passage, signals=signals)
    return None


def _is_amendment(passage: Passage, of: Passage) -> bool:
    """Whether the title of a passage says that its document amends that of another."""
    if passage.source == of.source or not _AMENDS.search(passage.source.title):
        return False
    language = analysis_language(of.source.details.language)
    title = set(terms(of.source.title, language))
    shared = title & set(terms(passage.source.title, language))
    return bool(title) and len(shared) >= NAMES * len(title)


def _clauses(passages: Sequence[Passage]) -> Iterator[_Clause]:
    """The lines that change something; one without a section changes that of the lines above it."""
    section, headings = "", None
    for passage in passages:
        if passage.place.heading != headings:
            section, headings = "", passage.place.heading
        for line in filter(str.strip, passage.text.splitlines()):
            opening = _QUOTE.split(line)[0]
            if match := _SECTION.search(opening):
                section = match[1]
            if _REPLACED.search(line) or (_WHOLE.search(opening) and _QUOTED.search(line)):
                paragraph = _PARAGRAPH.search(opening)
                text = _MARK.sub("", line.strip(), count=1)
                text = text if match or not section else f"§ {section}: {text}"
                yield _Clause(section, paragraph[1] if paragraph else "", text, passage)


def _changes(clause: _Clause, best: Candidate) -> bool:
    """Whether a clause changes the paragraph of the lead, which does not have the new words yet."""
    text, lead = best.passage.text, best.signals.lead or (0, len(best.passage.text))
    before = [match[1] for match in _NUMBER.finditer(text[: lead[0] + len("(10) ")])]
    paragraphs = {*before[-1:], *_NUMBER.findall(text[slice(*lead)])}
    if clause.paragraph and paragraphs and clause.paragraph not in paragraphs:
        return False
    if replaced := _REPLACED.findall(clause.text):
        return any(words in text[slice(*lead)] for words in replaced)
    new = _QUOTED.search(clause.text)
    return new is not None and new[1][:SAME] not in text
