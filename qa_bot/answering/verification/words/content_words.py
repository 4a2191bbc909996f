"""The content words of a question, which of them seldom decide, and which of them a passage has or lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qa_bot.answering.verification.latest import words_of_date
from qa_bot.answering.verification.reading import whole_text
from qa_bot.answering.verification.words.exact_words import Exact, PassageWords, is_digit
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Candidate
from retrievers.codes import parts_of
from retrievers.long_questions import asides
from retrievers.path_words import parts_in_path
from retrievers.question_terms import content_terms

WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+")
"""As in the analysis: "2.13" is one word."""
_NEW = re.compile(r"(?:neu|ganz|eigen)(?:e[mnrs]?)?", re.IGNORECASE)
_OWNED = re.compile(
    r"my|our|his|her|their|mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|sein(?:e[mnrs]?)?|ihr(?:e[mnrs]?)?", re.IGNORECASE
)
_KIN = re.compile(
    r"(?:grand)?(?:sons?|daughters?|mothers?|fathers?|parents?)|husband|wife|brothers?|sisters?|aunt|uncle|grandma|grandpa"
    r"|mum|mom|dad|friends?|(?:enkel|schwieger|groß)?(?:söhne?n?|sohn(?:e?s)?|töchtern?|tochter|mutter|vaters?|eltern)"
    r"|mann(?:es)?|frau|brüder|bruders?|schwestern?|oma|opas?|tante|onkels?|freund(?:e[ns]?|in)?|kumpels?",
    re.IGNORECASE,
)
"""Kin and friends, whose names behind a possessive say whom the question is about."""
_SOURCE = re.compile(
    r"\b(?:laut|gemäß|according to|as per)\s+"
    r"(?:(?:the|our|this|your|company|de[mrs]|diese[mrs]|unsere[mrs]?|ihre[mrs]?|eure[mrs]?)\s+){0,2}(?P<name>[\w-]+)"
    r"|\bnach\s+(?:de[mr]|unsere[mr])\s+(?P<rules>[A-ZÄÖÜ]\w*(?:gesetz|ordnung|satzung|richtlinie|handbuch|vertrag))",
    re.IGNORECASE,
)
"""The source that a question names: "laut Satzung", "according to the handbook"."""


class ContentWords(NamedTuple):
    """The content words of a reading in the analysis of one language.

    `rows` are their numbers among all words; `is_weak` says which of them seldom decide, `is_literal` which of them a
    passage has, `is_near` of which it has a synonym, `is_absent` which codes it has in no spelling.
    """

    rows: list[int]
    texts: tuple[str, ...]
    terms: tuple[str, ...]
    is_weak: tuple[bool, ...] = ()
    is_literal: tuple[bool, ...] = ()
    is_near: tuple[bool, ...] = ()
    is_absent: tuple[bool, ...] = ()

    @property
    def are_had(self) -> bool:
        """Whether a passage has all words of the reading, and all its codes."""
        return all(self.is_literal) and not any(self.is_absent)


def content_words(
    candidate: Candidate,
    readings: Sequence[str],
    exact: Exact,
    language: str,
    words_of: Callable[[str, str, str], ContentWords],
) -> list[ContentWords]:
    """The content words of each reading in the analysis of the passage, and whether the passage has or lacks them.

    `words_of` is `content_of`, which the caller may cache.
    """
    analysis = analysis_language(candidate.passage.source.details.language)
    by_date = frozenset().union(*(words_of_date(reading, candidate.passage) for reading in readings))
    by_path = parts_in_path(" ".join(readings), candidate.passage.source.details.path, analysis)
    of_document = candidate.signals.document_codes
    by_document = frozenset(part.casefold() for code in of_document for part in parts_of(code))
    exact = exact._replace(codes=exact.codes - of_document)
    passage = PassageWords.of(whole_text(candidate), analysis, exact, by_date | by_path | by_document)
    return [
        words._replace(
            is_literal=_literal(words, passage),
            is_near=tuple(map(passage.has_synonym, words.texts)),
            is_absent=tuple(map(passage.lacks, words.texts, words.terms)),
        )
        for words in (words_of(reading, analysis, language) for reading in readings)
    ]


def content_of(text: str, language: str, question_language: str) -> ContentWords:
    """The content words of a text with their first index terms in the analysis of a language.

    A digit that ends a name ("Unit 8") has the term that the analysis joins it to. The source that a question names and
    the sentences of a story that do not ask have weak words.
    """
    content = set(content_terms(text, language, question_language))
    matches = [*WORD.finditer(text)]
    firsts = [next(iter(terms(match[0], language)), "") for match in matches]
    for at in range(1, len(matches)):
        is_last = at + 1 == len(matches) or firsts[at + 1] not in content
        if is_digit(matches[at][0]) and firsts[at - 1] in content and is_last:
            firsts[at] = "".join(terms(f"{matches[at - 1][0]} {matches[at][0]}", language)[-1:])
    words = [match[0] for match in matches]
    weak_spans = [*asides(text), *(match.span(match.lastgroup or 0) for match in _SOURCE.finditer(text))]
    rows = [row for row, term in enumerate(firsts) if term in content]
    return ContentWords(
        rows,
        tuple(words[row] for row in rows),
        tuple(firsts[row] for row in rows),
        tuple(
            _is_weak(words[row], words[row - 1] if row else "")
            or any(start <= matches[row].start() < end for start, end in weak_spans)
            for row in rows
        ),
    )


def _is_weak(word: str, before: str) -> bool:
    """Whether a word seldom decides which passage answers: "neu", or for whom, "my daughter"."""
    return bool(_NEW.fullmatch(word) or (_OWNED.fullmatch(before) and _KIN.fullmatch(word)))


def _literal(words: ContentWords, passage: PassageWords) -> tuple[bool, ...]:
    """Which words a passage has or answers, alone or as one word with the next."""
    literal = [*map(passage.has, words.texts, words.terms)]
    for at in range(1, len(words.terms)):
        follows = words.rows[at] == words.rows[at - 1] + 1
        if follows and not all(literal[at - 1 : at + 1]) and passage.has_joined(*words.terms[at - 1 : at + 1]):
            literal[at - 1 : at + 1] = True, True
    return tuple(literal)
