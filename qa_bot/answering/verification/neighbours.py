"""Neighbours of what is asked: a passage about the second and third floors does not answer for the first.

A question names one of a series by an ordinal ("the first floor") or by a capitalised name with a number ("Ember 10").
A passage that has at least two others of the series, and not that one, is about its neighbours, though it has nearly
every word of the question. Of 64 questions without answer that were answered in 25 sets four were of this kind: company
+.010 of points, a manual +.017, German rules that decided nothing else +.018, the others stay. With one other of the
series, right answers about "the second day of illness" are lost. Names of two letters ("AW 12"), ends left open only
in lines with the name, and other years or versions (`years.py`) refuse five more of 525 such questions in 24 further
sets, and lose one answer: .6365 to .6388.

A title that is a question tells more: "How many legs does a spider have?" asks about another animal than "How many legs
does a centipede have?". If nothing differs but one word, for which the passage has nothing near, it is no answer. If
the passage lacks a word of the question otherwise, it is an unsure one. Over 27 sets the first refuses four wrong
answers and no right one, the second doubts nine wrong answers and five right ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Passage
from rankers.question_titles import is_question
from retrievers.question_terms import content_terms

REPLACED, MISSING = 0.6, 0.25
"""A word of the question that the passage covers less is another thing than the title's, or is missing."""
ABOUT = 0.25
"""Share of the question's words from which on a title is about the same."""
FEWEST = 2
"""Others of the series that a passage has at least."""
_ENGLISH = "first second third fourth fifth sixth seventh eighth ninth tenth"
_GERMAN = "erst zweit dritt viert fünft sechst siebt acht neunt zehnt"
_FRENCH = "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième"
_ORDINALS = {
    **{word: number for number, word in enumerate(_ENGLISH.split(), 1)},
    **{
        f"{stem}{end}": number
        for number, stem in enumerate(_GERMAN.split(), 1)
        for end in ("e", "en", "er", "es", "em")
    },
    **{word: number for number, word in enumerate(_FRENCH.split(), 1)},
    "première": 1,
}
_ALTERNATIVE = re.compile(r"\b(?:or|oder|ou)\b", re.IGNORECASE)
"""A title with it asks for two things."""
_TOKEN = re.compile(r"\d{1,3}(?:st|nd|rd|th)\b|\d{1,3}\.(?=\s)|\d+(?:[.,]\d+)*(?!\w)|[^\W\d_]+")
_NAMED = re.compile(r"\b([A-ZÄÖÜ][^\W\d_]+) (\d+(?:[.,]\d+)*)(?!\w)")
_RANGE = re.compile(r"(?<![\d.,])(\d{1,9})\s*(?:[-–—]|to|bis|and|or|und|oder|à|et)\s*(\d{1,9})(?!\w)")
_OPEN = re.compile(
    r"\b(?:or|and|oder|und|et|ou)\s(?:later|newer|higher|above|up|more|older|earlier|lower|below|neuer|höher|später|älter|plus)"
    r"|\b(?:at least|at most|from|since|up to|ab|seit|mindestens|höchstens|dès|depuis)\s(?:\w+\s)?\d",
    re.IGNORECASE,
)


def is_about_neighbours(question: str, text: str, *, sections: Collection[str] = ()) -> bool:
    """Whether a text has others of a series that the question names one of, and not that one.

    Args:
        text: of a passage, with its headings.
        sections: numbers by which the question names sections; those of headings have other forms.
    """
    members = _members(_ordinals(question))
    named = {(name.casefold(), number) for name, number in _NAMED.findall(question) if number not in sections}
    if not members and not named:
        return False
    ordinals = _by_series(_ordinals(text))
    if any(_is_missing(ordinal, ordinals[noun]) for noun, ordinal in members):
        return True
    numbers = _by_series(_numbers(text))
    return any(_is_missing(number, numbers[name]) and not _is_included(name, number, text) for name, number in named)


class _Compared(NamedTuple):
    """The content terms of a question and of titles that ask, and the cover of the terms that the passage has not."""

    question: list[str]
    titles: list[list[str]]
    lacking: Mapping[str, float]

    @classmethod
    def of(cls, question: str, passage: Passage, cover: Mapping[str, float]) -> _Compared:
        language = analysis_language(passage.source.details.language)
        names = [passage.clue.title, passage.source.title, *passage.place.heading]
        asking = {name for name in (*names[:2], names[-1]) if is_question(name) and not _ALTERNATIVE.search(name)}
        present = {*terms(" ".join(names), language), *terms(passage.text, language)}
        shares = {term: share for word, share in cover.items() for term in terms(word, language)}
        content = content_terms(question, language)
        lacking = {term: shares[term] for term in content if term in shares and term not in present}
        return cls(content, [content_terms(name, language) for name in sorted(asking)], lacking)


def asks_about_another(question: str, passage: Passage, cover: Mapping[str, float]) -> bool:
    """Whether the title of a passage asks the same about another thing: one word differs.

    Args:
        cover: how far the passage covers each content word of the question, in [0, 1].
    """
    compared = _Compared.of(question, passage, cover)
    for title in compared.titles if len(compared.question) > 1 else ():
        pairs = SequenceMatcher(None, compared.question, title, autojunk=False).get_opcodes()
        changes = [change for change in pairs if change[0] != "equal"]
        if len(changes) == 1 and changes[0][0] == "replace":
            _, first, end, other, other_end = changes[0]
            is_one = end - first == 1 and other_end - other <= 2
            if is_one and compared.lacking.get(compared.question[first], 1.0) < REPLACED:
                return True
    return False


def lacks_word(question: str, passage: Passage, cover: Mapping[str, float]) -> bool:
    """Whether a passage whose title asks about the same says nothing near a word of the question.

    Args:
        cover: how far the passage covers each content word of the question, in [0, 1].
    """
    compared = _Compared.of(question, passage, cover)
    content = set(compared.question)
    if min(compared.lacking.values(), default=1.0) >= MISSING:
        return False
    shared = [len(content.intersection(title)) for title in compared.titles]
    return len(content) > 1 and max(shared, default=0) >= max(1, ABOUT * len(content))


def _is_missing(member: str, series: Collection[str]) -> bool:
    return len(series) >= FEWEST and member not in series


def _is_included(name: str, number: str, text: str) -> bool:
    """Whether a text includes a number in a range, without an end, or at the beginning of a line or row.

    Only lines with the name can leave the end open: "Ember 10 and later", but not "up to 4 m" elsewhere.
    """
    is_open = any(name in line.casefold() and _OPEN.search(line) for line in text.splitlines())
    if is_open or re.search(rf"^[\s|#]*{re.escape(number)}\b", text, re.MULTILINE):
        return True
    ranges = [sorted((int(first), int(last))) for first, last in _RANGE.findall(text)]
    return number.isdigit() and any(first <= int(number) <= last for first, last in ranges)


def _ordinals(text: str) -> Iterator[tuple[str, str]]:
    """Each noun that follows an ordinal, and the ordinal as a number."""
    for word, noun in pairwise(_TOKEN.findall(text.casefold())):
        digits = re.match(r"(\d{1,3})(?:st|nd|rd|th|\.)$", word)
        number = int(digits[1]) if digits else _ORDINALS.get(word)
        if number is not None and noun[0].isalpha():
            yield noun.rstrip("s"), str(number)


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """Each word that a number follows, and the number."""
    return ((word, number) for word, number in pairwise(_TOKEN.findall(text.casefold())) if number[0].isdigit())


def _members(pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(noun, number) for noun, number in pairs if len(noun) > 2}


def _by_series(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    series: dict[str, set[str]] = defaultdict(set)
    for name, number in pairs:
        series[name].add(number)
    return series
