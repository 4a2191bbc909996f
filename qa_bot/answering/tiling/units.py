"""Units of a passage: how well each answers, and which of them support the answer.

    s(u) = cos(q, u) + .2 · Σ_{w ∈ (q − h) ∩ u} idf(w) / Σ_{w ∈ q} idf(w)

with the content words w of the question q; .4 for .2 in rows, and .6 if the passage is not English. Words of the
headings h above the passage do not count: they are what all of its units are about. If the nearest heading has half of
the question's words, by their idf, the section is the answer, and its beginning gains .2; so does an item that begins
with a term in bold type, and a row that the question names by a number. A unit is a sentence, a list item, a row or a
block of code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from qa_bot.answering.tiling.question_parts import definition_of
from qa_bot.answering.tiling.table_rows import first_cell, row_names
from qa_bot.answering.verification.amounts import asks_how_much, has_amount, lacks_amount
from qa_bot.answering.verification.roles import AskedRole
from qa_core.text.analysis import terms
from qa_core.text.markdown_text import header_above, unit_text
from qa_core.types import FloatArray, Passage, Span
from retrievers.codes import has_code
from retrievers.german.verbs import is_separated, separated_prefixes

WORDS = 0.2
"""Weight of the question's own words beside the cosine. Mean points over twelve sets of questions and dialogues with
the better vectors: +.0041, with .1 +.0028, with .5 +.0043, but one set loses .009."""
WORDS_OTHERWISE = 0.6
"""The same in other languages than English, which the encoders know less well: german gains .011 of points, German
pages that decided nothing else .039, with .4 .011 and 0."""
WORDS_OF_ROWS = 0.4
"""The same of rows: "| Alt+S | Takes a screenshot |" is so short that its cosine says little."""
NAMED = 0.5
"""Share of the question's words, by their idf, from which on the nearest heading names what is asked."""
BEGINNING = 0.2
"""What the first unit below such a heading gains. Mean points of eight collections: +.001; of a manual and of German
pages that decided nothing else +.044. With .3 six answers of 18F and the German pages are worse, with .2 two."""
CODE = 0.5
"""What a unit with a code or an option of the question gains: others are about other ones. A manual that decided
nothing else gains .007 of points; the twelve development sets stay."""
NO_AMOUNT = 0.1
"""What a unit loses that lacks the number or time that the question asks for, if another one has it."""
MONEY = 0.2
"""What a unit with an amount of money gains if the question asks how much something is. With both 34 sets of questions
gain .0012 of points and twelve of dialogues .0030; eight sets rise by up to .028, five fall by up to .005."""
DEFINES = 0.3
"""What a unit gains that says what the term is whose definition the question asks for: "A client is …"."""
TOPIC = 1.0
"""What the first unit gains if the question only names a topic, and the headings name all of it: "descaling Brezza 500"
shows the section from its beginning."""
NAMED_ROW = 0.2
"""What a row gains whose first cell has the number that the question names, alone or in a range: "4.1", or "band 6" in
"5 – 6", or whose first cell the question has whole. No collection changes; a handbook and a manual that decided nothing
else answer a question more."""
WHOLE_CELL = 0.3
"""Share of the question's words, by their idf, that such a cell has at least."""
ANNOUNCES = 0.05
"""What a line with a colon above a table loses: the rows answer. Docker's commands gain .039 of points by it; nothing
changes in fifteen other sets."""
SUPPORTS = 0.5
"""A unit supports the answer if its cosine is at least this share of the best one. What follows the last such unit is
left out: with .5 none of these sets loses points, with .6 one does, with .7 three."""
SHORT = 10
"""Items of a list that is given whole; a glossary has more."""
LAST = 0.01
"""By how much a unit that does not answer scores less than all others."""
CAPTION = 80
"""Characters of a line that is only the caption of a picture; a longer one explains what the picture shows."""
_PICTURE = r"(?:figure|fig\.?|illustration|screenshot|image|abbildung|abb\.?|bild|schéma)"
_CAPTION = re.compile(rf"[\s*_]*{_PICTURE}\s\d+(?:[.-]\d+)*[.:][*_]*(?:\s|$)", re.IGNORECASE)
_PICTURE_TERMS = frozenset(terms("figure fig illustration screenshot image")) | frozenset(
    terms("Abbildung Abb Bild", "de")
)
_EXPLAINED = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s+\*\*([^*\n]+)\*\*")
_STEP = re.compile(r"\s*\d{1,2}[.)]\s")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
_PLACEHOLDER = re.compile(r"\s*(?:[-*+]\s+)?[*_(\[]*(?:TODO|TBD|TBA|FIXME)\b")
"""Begins a line that an author will write later."""


class SoughtUnits(NamedTuple):
    """What a question says of the unit that answers it.

    `codes` are those of the question (`retrievers.codes`), `is_topic` says whether it asks nothing and only names a
    topic, and `defined` is the term whose definition it asks for; `question` is its text.
    """

    codes: Collection[str] = ()
    is_topic: bool = False
    defined: str = ""
    question: str = ""


NOTHING_SOUGHT = SoughtUnits()


def unit_scores(
    passage: Passage,
    units: Sequence[Span],
    cosines: FloatArray,
    rarity: Mapping[str, float],
    language: str,
    *,
    context: Collection[str] = (),
    sought: SoughtUnits = NOTHING_SOUGHT,
) -> FloatArray:
    """The score (U,) of each unit as an answer.

    Args:
        units: spans of the passage's text, in order.
        cosines: of the question with each unit, (U,).
        rarity: idf of the content terms of the question, in the analysis of `language`.
        context: terms of the headings above the passage.
        sought: what the question says of the unit that answers it.
    """
    total = sum(rarity.values())
    if not total:
        return cosines
    telling = {term: idf for term, idf in rarity.items() if term not in context}
    shares = [
        sum(telling[term] for term in present) / total for present in _present(passage.text, units, telling, language)
    ]
    is_row = np.array([passage.text.startswith("|", start) for start, _ in units], bool)
    weights = np.where(is_row & (language == "en"), WORDS_OF_ROWS, WORDS if language == "en" else WORDS_OTHERWISE)
    scores = np.asarray(cosines + weights * np.array(shares), np.float32)
    for number, head in enumerate(_heads(passage, units)):
        of_head = set(terms(head, language)) if head else set()
        named = rarity.keys() & of_head
        if number == 0 and sought.is_topic and not telling and named and 2 * len(named) >= len(of_head):
            scores[0] += TOPIC
        elif named and sum(rarity[term] for term in named) >= NAMED * total:
            scores[number] += BEGINNING
    for number, (start, end) in enumerate(units if sought.codes else ()):
        scores[number] += CODE * any(has_code(passage.text[start:end], code) for code in sought.codes)
    if sought.defined:
        scores += DEFINES * _defining(passage.text, units, sought.defined)
    scores += _amounts(passage.text, units, sought.question)
    scores += _holders(passage.text, units, sought.question, language)
    for number, unit in enumerate(units):
        if passage.text.startswith("|", unit[0]) and _is_named(passage.text, unit, rarity, language):
            scores[number] += NAMED_ROW
    _lower_announcements(passage.text, units, scores)
    _answer_questions(passage.text, units, scores)
    if _PICTURE_TERMS.isdisjoint(rarity):
        _put_last([is_caption(passage.text, unit) for unit in units], scores)
    _put_last([_PLACEHOLDER.match(passage.text, *unit) is not None for unit in units], scores)
    return scores


def _is_named(text: str, row: Span, rarity: Mapping[str, float], language: str) -> bool:
    """Whether the question names a row: by its number, or by all words of its first cell."""
    cell = {*terms(first_cell(text[slice(*row)]), language)}
    is_whole = cell and cell <= rarity.keys()
    share = sum(rarity[term] for term in cell) if is_whole else 0.0
    return share >= WHOLE_CELL * sum(rarity.values()) or bool(row_names(text, row, rarity, language))


def _lower_announcements(text: str, units: Sequence[Span], scores: FloatArray) -> None:
    """A line with a colon above a table only announces the rows."""
    for number, (unit, following) in enumerate(pairwise(units)):
        if text[slice(*unit)].rstrip().endswith(":") and text[slice(*following)].lstrip()[:1] == "|":
            scores[number] -= ANNOUNCES


def _answer_questions(text: str, units: Sequence[Span], scores: FloatArray) -> None:
    """A question in the text is no answer: the unit below it has its score, if that is higher."""
    are_questions = [text[slice(*unit)].rstrip(" *_\n").endswith("?") for unit in units]
    for number in np.flatnonzero(are_questions[:-1]):
        scores[number + 1] = max(scores[number : number + 2])
    _put_last(are_questions, scores)


def _present(text: str, units: Sequence[Span], question: Collection[str], language: str) -> Iterator[set[str]]:
    """Which terms of the question each unit has: a row also those of its header, a German one verbs with the prefix
    apart."""
    of_header = cache(lambda span: frozenset(terms(text[slice(*span)], language)))
    for start, end in units:
        unit = text[start:end]
        present = set(terms(unit, language))
        if unit.startswith("|") and (header := header_above(text, start)):
            present |= of_header(header)
        if language == "de" and (prefixes := separated_prefixes(unit)):
            present.update(term for term in question if is_separated(term, present, prefixes))
        yield present.intersection(question)


def _defining(text: str, units: Sequence[Span], term: str) -> FloatArray:
    """1 for each unit (U,) that begins with a term and says what it is, else 0."""
    pattern = definition_of(term)
    return np.array([pattern.match(text, *unit) is not None for unit in units], np.float32)


def _amounts(text: str, units: Sequence[Span], question: str) -> FloatArray:
    """What each unit (U,) gains by an amount of money, or loses without what the question asks for."""
    if not question or len(units) < 2:
        return np.zeros(len(units), np.float32)
    texts = [unit_text(text, unit) for unit in units]
    if asks_how_much(question) and any(have := [has_amount(unit) for unit in texts]):
        return MONEY * np.array(have, np.float32)
    lacking = np.array([lacks_amount(question, unit) for unit in texts], np.float32)
    return np.zeros_like(lacking) if lacking.all() else -NO_AMOUNT * lacking


def _holders(text: str, units: Sequence[Span], question: str, language: str) -> FloatArray:
    """What each unit (U,) gains that names a person beside the role whose holder the question asks for."""
    role = AskedRole.of(question)
    return NAMED_ROW * np.array([role.is_held(text[slice(*unit)], language) for unit in units], np.float32)


def is_caption(text: str, unit: Span) -> bool:
    """Whether a unit is in a line that only names a picture: "Figure 3.50. Drawing the line"."""
    first, last = text.rfind("\n", 0, unit[0]) + 1, text.find("\n", unit[0])
    end = len(text) if last < 0 else last
    return end - first <= CAPTION and _CAPTION.match(text, first, end) is not None


def _put_last(unwanted: Sequence[bool], scores: FloatArray) -> None:
    """Captions, questions and placeholders have the words of what is asked, but the text beside them answers."""
    others = [score for score, is_one in zip(scores.tolist(), unwanted, strict=True) if not is_one]
    for number, is_one in enumerate(unwanted if others else ()):
        if is_one:
            scores[number] = min(scores[number], min(others) - LAST)


def _heads(passage: Passage, units: Sequence[Span]) -> Iterator[str]:
    """What each unit stands below: an item's bold term, the passage's nearest heading for its first unit, or ""."""
    nearest = [passage.source.title, *passage.place.heading][-1]
    for start, end in units:
        term = _EXPLAINED.match(passage.text, start, end)
        yield term[1] if term else nearest
        nearest = ""


def supporting(text: str, units: Sequence[Span], cosines: FloatArray) -> tuple[Span, ...]:
    """The units that support an answer, in order.

    Steps, a short list, and a list behind the line that announces it are not torn apart behind one of their items. What
    a line ending in a colon announces, such as a command, belongs to the line.

    Args:
        units: spans of the text, in order.
        cosines: of the question with each unit, (U,).
    """
    if not len(units):
        return ()
    least = SUPPORTS * float(np.max(cosines))
    spans: list[Span] = []
    is_whole = False  # the list in which the unit is
    is_announced = False
    items = _items_of_list(text, units)
    for (start, end), cosine, count in zip(units, cosines.tolist(), items, strict=True):
        unit = text[start:end]
        is_whole = is_whole and count > 0
        if cosine >= least or is_whole or is_announced:
            spans.append((start, end))
            is_announced = unit.rstrip().endswith(":")
            is_whole = is_whole or 0 < count <= SHORT or bool(_STEP.match(unit)) or is_announced
        else:
            is_announced = False
    return tuple(spans)


def is_torn_list(text: str, end: int) -> bool:
    """Whether a cut at `end` parts an item of a list from the next one."""
    last = text[text.rfind("\n", 0, end) + 1 : end]
    return _ITEM.match(last) is not None and _ITEM.match(text, end) is not None


def _items_of_list(text: str, units: Sequence[Span]) -> list[int]:
    """For each unit the number of items in the list that it belongs to; 0 for a unit that is no item."""
    counts: list[int] = []
    for is_item, run in groupby(units, key=lambda unit: _ITEM.match(text[slice(*unit)]) is not None):
        size = len([*run])
        counts += [size if is_item else 0] * size
    return counts
