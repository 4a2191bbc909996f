"""Words of a question that a passage has or answers without any likeness, and those that no likeness covers.

A passage with "2026-02-17" has the word February, one with an amount of money answers "cost", one with an address
answers "contact". "E19" is not covered by "E02", nor "phone number" by a passage without a number.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from qa_bot.answering.verification.amounts import asks_for_price, has_amount
from qa_bot.answering.verification.contacts import AskedContact
from qa_bot.answering.verification.months import month_of, months_in
from qa_core.text.analysis import terms
from retrievers.codes import has_code, parts_of
from retrievers.german_compounds import has_parts, is_in_compound
from retrievers.german_verbs import is_separated, separated_prefixes


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
    is_german: bool = False

    @classmethod
    def of(cls, text: str, analysis: str, exact: Exact) -> PassageWords:
        """The words of a text in the analysis of its language.

        `lacking` are the words that ask for a contact, if the question names a number or address and none is there.
        """
        is_reached = exact.contact.is_in(text)
        return cls(
            terms=set(terms(text, analysis)),
            prefixes=separated_prefixes(text) if analysis == "de" else frozenset(),
            months=months_in(text),
            has_price=has_amount(text),
            answered=exact.contact.words if is_reached else frozenset(),
            absent={word for code in exact.codes if not has_code(text, code) for word in parts_of(code)},
            lacking=exact.contact.words if exact.contact.by_name and not is_reached else frozenset(),
            is_german=analysis == "de",
        )

    def has(self, word: str, term: str) -> bool:
        """Whether the passage has or answers a word of a question; `term` is the word in the passage's analysis."""
        return (
            term in self.terms
            or ("." in term and any(other.startswith(f"{term}.") for other in self.terms))  # "2.13" in "2.13.0"
            or month_of(word) in self.months
            or (self.has_price and asks_for_price(word))
            or word.casefold() in self.answered
            or is_separated(term, self.terms, self.prefixes)
            or (self.is_german and (is_in_compound(term, self.terms) or has_parts(term, self.terms)))
        )

    def lacks(self, word: str, term: str) -> bool:
        """Whether no other word of the passage may cover a word of a question."""
        return word in self.absent or (word.casefold() in self.lacking and term not in self.terms)
