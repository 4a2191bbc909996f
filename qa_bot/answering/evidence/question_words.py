"""The words of a question as written, with their index terms, and which of them are names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from qa_bot.answering.tiling.question_parts import asks_for_steps, defined_term, definition_of, topic_of
from qa_bot.answering.verification.contacts import NO_CONTACT, AskedContact
from qa_bot.answering.verification.roles import NO_ROLE, AskedRole
from qa_core.text.analysis import STOP_TERMS, terms
from qa_core.text.stop_words import word_set
from rankers.passage_evidence import NAMED
from rankers.release_notes import versions_in
from retrievers.codes import codes_in, has_code

LONGEST_NAME = 3
"""If more words than these after the first all have a capital, the text is a headline and its words are no names."""

_TOKEN = re.compile(r"\w+(?:[.'’-]\w+)*")
_SENTENCE_ENDS = frozenset(".?!:")
TITLES = word_set("dr mr mrs ms prof st no nr fr hr mme mlle")
"""Abbreviations before names, whose point ends no sentence."""
_OPENING = " \t\n\"'“‘("

_SIGN = (
    r"(?:§|\b(?:section|sec\.|chapter|article|art\.|clause|appendix|annex|abschnitt|kapitel|artikel|ziffer|anhang|anlage"
    r"|paragraf|paragraph|chapitre|sección|capítulo|artículo|sezione|capitolo|articolo))"
)
_NUMBER = r"\s*(\d{1,3}(?:\.\d{1,3})*[a-z]?)\b"
_SECTION = re.compile(_SIGN + _NUMBER, re.IGNORECASE)
_DETERMINED = re.compile(r"\b(?:the|der|die|das|my|our|mein\w*|unser\w*)\b", re.IGNORECASE)
"""Asks for one thing, such as "the deadline", and not what deadlines are."""
_HEADING_NUMBER = re.compile(f"{_SIGN}?{_NUMBER}", re.IGNORECASE)

_HEAD_OF_MAIL = re.compile(
    r"\b(?:when|dates?|dated|sent|send|wrote|writes?|written|recipients?|receive[ds]?|cc|copied|wann|datum|gesendet"
    r"|geschickt|schrieb|geschrieben|empfänger\w*|quand|envoyé\w*|destinataires?)\b",
    re.IGNORECASE,
)
"""Asks for what the head of a mail says: its date or its recipients."""


class AskedPlaces(NamedTuple):
    """Where the answer to a question stands: among steps, at a contact or code, in a section, in notes on a version, in
    the definition of a term, in the head of a mail, or at the name of who has a role."""

    steps: bool = False
    contact: AskedContact = NO_CONTACT
    sections: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    definition: re.Pattern[str] | None = None
    head_of_mail: bool = False
    role: AskedRole = NO_ROLE

    @classmethod
    def of(cls, text: str) -> AskedPlaces:
        sections = frozenset(match[1].lower() for match in _SECTION.finditer(text))
        contact = AskedContact.of(text)
        term = "" if _DETERMINED.search(text) or contact.words else defined_term(text) or topic_of(text)
        definition = definition_of(term) if term else None
        head = _HEAD_OF_MAIL.search(text) is not None
        role, codes = AskedRole.of(text), codes_in(text)
        return cls(asks_for_steps(text), contact, sections, versions_in(text), codes, definition, head, role)

    def names(self, headings: Iterable[str]) -> bool:
        """Whether one of the headings begins with the number of a section of the question: "§ 6 Fees"."""
        if not self.sections:
            return False
        numbers = (match[1].lower() for heading in headings if (match := _HEADING_NUMBER.match(heading)))
        return not self.sections.isdisjoint(numbers)

    def share_of_codes(self, text: str, named: Collection[str] = ()) -> float:
        """The share of the question's codes that a text has, 0 without any; `named` are those of its document."""
        had = sum(has_code(text, code) for code in self.codes)
        return (had + NAMED * len(named)) / max(1, len(self.codes))

    def defines(self, text: str) -> bool:
        """Whether a line of a text says what the term is that the question asks for or only names."""
        return self.definition is not None and self.definition.search(text) is not None

    def has_clause(self, text: str) -> bool:
        """Whether a line of a text begins with a number with points that the question names: "3.2 Defects are …"."""
        clauses = [number for number in self.sections if "." in number]
        return any(re.search(rf"^\W{{0,4}}{re.escape(number)}(?![\w]|\.\d)", text, re.MULTILINE) for number in clauses)


ANYWHERE = AskedPlaces()


class QuestionWord(NamedTuple):
    """A word, or a name of several."""

    text: str
    terms: tuple[str, ...]
    position: int  # of its first word
    name: bool

    def has(self, candidates: Collection[str]) -> bool:
        """Whether one of its terms is among these."""
        return any(term in candidates for term in self.terms)


def question_words(text: str, language: str = "", question_language: str = "") -> Iterator[QuestionWord]:
    """Words in order. A capitalised word is a name, unless it begins a sentence or the text is a headline.

    In German all nouns have a capital, so that no word is known to be a name.

    Args:
        language: of the analysis.
        question_language: of the text; by default that of the analysis.
    """
    names_have_capitals = (question_language or language) != "de"
    for position, (word, name) in enumerate(_words(text)):
        yield QuestionWord(word, tuple(terms(word, language)), position, name and names_have_capitals)


def names(text: str, language: str = "", question_language: str = "") -> frozenset[str]:
    """The terms of all names."""
    named = (word for word in question_words(text, language, question_language) if word.name)
    return frozenset(term for word in named for term in word.terms)


def words_of_terms(
    text: str, index_terms: Collection[str], language: str = "", question_language: str = ""
) -> list[QuestionWord]:
    """The distinct words of a text with these terms, in the order of the terms; neighbouring names are joined.

    See `question_words` for the languages.
    """
    rank = {term: rank for rank, term in enumerate(index_terms)}
    matches = [word for word in _joined(question_words(text, language, question_language), rank) if word.has(rank)]
    matches.sort(key=lambda word: min(rank.get(term, len(rank)) for term in word.terms))
    first: dict[str, QuestionWord] = {}
    for word in matches:
        first.setdefault(word.text.casefold(), word)
    return [*first.values()]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Words, and whether each is a name."""
    matches = [*_TOKEN.finditer(text)]
    others = [match[0] for match in matches[1:] if match[0].lower() not in STOP_TERMS]
    titled = text.isupper() or (len(others) > LONGEST_NAME and all(word[0].isupper() for word in others))
    end, previous = 0, ""
    for match in matches:
        is_short = previous.casefold() in TITLES and text[end : end + 1] == "."
        begins = end == 0 or (not is_short and text[end : match.start()].rstrip(_OPENING)[-1:] in _SENTENCE_ENDS)
        yield match[0], match[0][0].isupper() and not (begins or titled)
        end, previous = match.end(), match[0]


def _joined(words: Iterator[QuestionWord], index_terms: Collection[str]) -> Iterator[QuestionWord]:
    """Neighbouring names with these terms become one."""
    run: list[QuestionWord] = []
    for word in words:
        named = word.name and word.has(index_terms)
        if run and not (named and word.position == run[-1].position + 1):
            yield _one(run)
            run = []
        if named:
            run.append(word)
        else:
            yield word
    if run:
        yield _one(run)


def _one(run: list[QuestionWord]) -> QuestionWord:
    joined = tuple(term for word in run for term in word.terms)
    return QuestionWord(" ".join(word.text for word in run), joined, run[0].position, name=True)
