"""Finds negations in a question: facts say which countries border Peru, and nothing about those that do not.

An index leaves negations out as stop words, so that an interpretation explains every other word of such a question
and gives the opposite of the answer with a confidence above .9.
"""

from __future__ import annotations

import re

from kg_index.answers.topics import QuestionEntities
from qa_core.text.stop_words import NEGATIONS, word_set

_EXCEPTIONS = word_set("except excepting excluding besides ausser ausgenommen")
_UNWRITTEN = frozenset(
    f"{verb}nt" for verb in word_set("are ca could did do does had has have is should was were wo would")
)
"""Contractions without their apostrophe."""
_HELPER, _NOT, _KNOW = "(?:do|did|ca|can|could)", "(?:n['’]?t|not| not)", r"(?:know|remember|recall|tell)\b"
_WORD = re.compile(
    r"(?P<harmless>\A\s*no\s*[,;:!.–—-]"
    rf"|\b(?:i|we|you) {_HELPER}{_NOT} {_KNOW}|\b{_HELPER}(?:{_NOT} (?:i|we|you)| (?:i|we|you) not) {_KNOW}"
    r"|\bnot (?:sure|certain)\b|\bno (?:idea|clue)\b|\bno(?:\.(?=\s*\w)|(?=\s*\d)))"
    r"|\b(?:other than|apart from|aside from)\b"
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*",
    re.IGNORECASE,
)
"""A word; "I don't know", "No, I meant" and "no. 5" negate nothing."""


def is_negated(question: str, entities: QuestionEntities) -> bool:
    """Whether the question has a negation or an exception outside the names of entities."""
    return any(
        _negates(match) and not _is_in_name(match.start(), match.end(), entities) for match in _WORD.finditer(question)
    )


def _negates(match: re.Match[str]) -> bool:
    if match["harmless"]:
        return False
    word = match[0].casefold().replace("’", "'")
    return " " in word or word in NEGATIONS | _EXCEPTIONS | _UNWRITTEN or word.endswith("n't")


def _is_in_name(start: int, end: int, entities: QuestionEntities) -> bool:
    """Whether a name covers the word; "No" alone is one ("the symbol No"), unless it begins the question."""
    return any(
        name.start <= start and end <= name.end and (name.end - name.start > end - start or start > 0)
        for name in (*entities.topics, *entities.kinds)
    )
