"""Words of a question that a passage has or answers without any likeness, and those that no likeness covers.

A passage with "2026-02-17" has the word February, one with an amount of money answers "cost", one with an address
answers "contact", and one with "unpaid" says whether something is paid. "E19" is not covered by "E02", "Unit 8" by
"Unit 7", Sunday by Saturday, nor "phone number" by a passage without a number. A passage with two other numbers ("600
dpi or 1,200 dpi", "blinks two or four times") does not cover "1800" or "five".
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

from qa_bot.answering.verification.amounts import asks_for_price, has_amount
from qa_bot.answering.verification.calendar_names import month_of, months_in, weekday_of, weekdays_in
from qa_bot.answering.verification.contacts import AskedContact
from qa_core.text.analysis import terms, words
from retrievers.codes import has_code, parts_of
from retrievers.german.compounds import begins_compound, has_parts, is_in_compound
from retrievers.german.verbs import infinitives, is_separated, separated_prefixes, verb_bases
from retrievers.german_synonyms import synonym_terms

_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"(?<![\w.,])\d(?!\w|[.,]\d)")
_SPAN = re.compile(r"(?<![\d.,])(\d{1,4})\s*(?:[-–—]|to|bis|à|and|or|und|oder|et|ou)\s*(\d{1,4})(?!\w)")
_SPELT = (
    "zero null zéro",
    "one first eins ein eine einer einem einen erste ersten erster un une premier première",
    "two second both zwei zweite zweiten zweiter deux deuxième",
    "three third drei dritte dritten dritter trois troisième",
    "four fourth vier vierte vierten quatre",
    "five fifth fünf fünfte fünften cinq",
    "six sixth sechs sechste sechsten",
    "seven seventh sieben siebte siebten sept",
    "eight eighth acht achte achten huit",
    "nine ninth neun neunte neunten neuf",
)
_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,\u202f ]\d{3})+(?!\w|[.,]\d)|(?<![\w.,])\d{3,5}(?!\w|[.,]\d)")
_STATE = re.compile(r"(?:ed|id|able|ible|en)$", re.IGNORECASE)
"""Ends of English words for what has been done or can be done: "unlock" is another action than "lock"."""
_YEARS = range(1900, 2101)
FEWEST = 2
"""Other numbers that a passage has at least."""
_DIGITS = {word: str(digit) for digit, words in enumerate(_SPELT) for word in words.split()}
_CARDINALS = ("two three four five six seven eight nine", "zwei drei vier fünf sechs sieben acht neun")
_CARDINAL_WORDS = frozenset(word for words in _CARDINALS for word in words.split())


class Exact(NamedTuple):
    """What of a question is in a passage or not, whatever the vectors of its words say."""

    codes: frozenset[str]
    contact: AskedContact


class PassageWords(NamedTuple):
    """What a passage has: its terms, and what answers words of a question; `absent` words are those it has not."""

    terms: Set[str]
    prefixes: frozenset[str]
    months: Set[int]
    has_price: bool
    answered: Set[str]
    absent: Set[str]
    lacking: Set[str]
    weekdays: Set[int] = frozenset()
    digits: Set[str] = frozenset()
    numbers: Set[str] = frozenset()
    is_german: bool = False
    verb_bases: Set[str] = frozenset()

    @classmethod
    def of(cls, text: str, analysis: str, exact: Exact, by_date: frozenset[str] = frozenset()) -> PassageWords:
        """The words of a text in the analysis of its language; `by_date` are those that its date answers.

        `lacking` are the words that ask for a contact, if the question names a number or address and none is there.
        """
        is_reached = exact.contact.is_in(text)
        forms = infinitives(text) if analysis == "de" else ()
        return cls(
            terms={*terms(text, analysis), *terms(" ".join(forms), analysis)},
            prefixes=separated_prefixes(text) if analysis == "de" else frozenset(),
            months=months_in(text),
            has_price=has_amount(text),
            answered=by_date | exact.contact.words if is_reached else by_date,
            absent={word for code in exact.codes if not has_code(text, code) for word in parts_of(code)},
            lacking=exact.contact.words if exact.contact.by_name and not is_reached else frozenset(),
            weekdays=weekdays_in(text),
            digits=digits_in(text),
            numbers=numbers_in(text),
            is_german=analysis == "de",
            verb_bases=verb_bases(text) if analysis == "de" else frozenset(),
        )

    def has(self, word: str, term: str) -> bool:
        """Whether the passage has or answers a word of a question; `term` is the word in the passage's analysis."""
        return (
            term in self.terms
            or ("." in term and any(other.startswith(f"{term}.") for other in self.terms))  # "2.13" in "2.13.0"
            or month_of(word) in self.months
            or weekday_of(word) in self.weekdays
            or word in self.digits
            or (self.has_price and asks_for_price(word))
            or word.casefold() in self.answered
            or is_separated(term, self.terms, self.prefixes)
            or self._denies(word, term)
            or (self.is_german and self._has_german(word, term))
        )

    def _denies(self, word: str, term: str) -> bool:
        """Whether it has the opposite of a state: "unpaid", "unbezahlt"."""
        return f"un{term}" in self.terms and (self.is_german or _STATE.search(word) is not None)

    def _has_german(self, word: str, term: str) -> bool:
        """Whether it has the word in a compound, its parts, or another form of the verb."""
        forms = terms(" ".join(infinitives(word)), "de")
        is_form = bool(forms) and self.terms >= set(forms)
        is_form = is_form or not self.verb_bases.isdisjoint(verb_bases(word))
        return is_form or is_in_compound(term, self.terms) or has_parts(term, self.terms)

    def has_joined(self, first: str, second: str) -> bool:
        """Whether it has two terms of the question that follow each other as one German word."""
        return self.is_german and begins_compound(first, second, self.terms)

    def has_synonym(self, word: str) -> bool:
        """Whether it has a synonym of a German word."""
        return self.is_german and not synonym_terms(word).isdisjoint(self.terms)

    def lacks(self, word: str, term: str) -> bool:
        """Whether no other word of the passage may cover a word of a question."""
        if is_digit(word):
            return word not in self.digits
        if is_cardinal(word):
            return _DIGITS[word.casefold()] not in self.digits and len(self.digits) >= FEWEST
        if word in numbers_in(word):
            return word not in self.numbers and len(self.numbers) >= FEWEST
        if self.weekdays and (day := weekday_of(word)) is not None:
            return day not in self.weekdays
        return word in self.absent or (word.casefold() in self.lacking and term not in self.terms)


def is_digit(word: str) -> bool:
    """Whether a word is a single digit, which the analysis joins to the word before it."""
    return len(word) == 1 and word.isdigit()


def is_cardinal(word: str) -> bool:
    """Whether a word is a number from two to nine."""
    return word.casefold() in _CARDINAL_WORDS


def numbers_in(text: str) -> set[str]:
    """The numbers of three to five digits in a text without their separators; years are none."""
    numbers = {re.sub(r"\D", "", number) for number in _NUMBER.findall(text)}
    return {number for number in numbers if int(number) not in _YEARS and len(number) <= 5}


def digits_in(text: str) -> set[str]:
    """The numbers of one digit that a text has alone, spelt out, or between two others."""
    digits = {*_DIGIT.findall(text), *(_DIGITS[word] for word in words(text) if word in _DIGITS)}
    figures = _LETTERS.sub(lambda word: _DIGITS[word[0].casefold()] if is_cardinal(word[0]) else word[0], text)
    for first, last in _SPAN.findall(figures):
        digits.update(str(number) for number in range(int(first), min(9, int(last)) + 1))
    return digits
