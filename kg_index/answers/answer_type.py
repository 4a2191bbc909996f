"""Predicts the type of answer that a question asks for, from its wording."""

from __future__ import annotations

import re
from typing import Literal

from qa_core.text.analysis import terms

AnswerType = Literal["count", "date", "number", "entity", "any", "prose"]
"""A number of things, a date or year, a quantity, a person or place, anything; or "prose", which no fact can give:
whether, why or how something is."""

_COUNT = re.compile(r"\bhow many\b|\b(?:the |total )?number of\b|\bcount\b", re.I)
_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b"
    r"|\b(?:date|year|day) (?:of|was|did)\b|\bbirthday\b",
    re.I,
)
_NUMBER = re.compile(
    r"\bhow (?:much|long|high|tall|deep|wide|big|large|heavy|far|old|fast|hot|cold|populous|dense|small|thick|short)\b",
    re.I,
)
_LIST = re.compile(r"\s*(?:list|name|show|give|tell|which|what are|what were|enumerate)\b", re.I)
_ENTITY = re.compile(r"\b(?:who|whom|whose|where)\b", re.I)
_PROSE = re.compile(
    r"\s*(?:why\b|how (?:do|does|did|can|could|to|should|would|is|are|was|were)\b|how come\b|how often\b"
    r"|(?:is|are|was|were|am|do|does|did|can|could|will|would|should|has|have|had|may|must)\s)",
    re.I,
)
_EXTREME = re.compile(
    r"\b(?:most|least|first|second|third|fourth|fifth|last|best|worst|(?!(?:west|east|rest|test|guest|forest|interest)\b)"
    r"\w{3,}est)\b",
    re.I,
)
QUESTION_STEMS = frozenset(
    terms("many much list give show find tell please all there located called which you know number count total")
)
"""Stems of question words, in addition to those of `kg_index.relations.keywords`."""


def expected_type(question: str) -> AnswerType:
    """The type of answer; "any" if the wording leaves it open."""
    if _PROSE.match(question):
        return "prose"
    if _COUNT.search(question):
        return "count"
    if _DATE.search(question):
        return "date"
    if _NUMBER.search(question):
        return "number"
    return "entity" if _ENTITY.match(question.strip()) else "any"


def asks_for_list(question: str) -> bool:
    """Whether it may ask for all things of a kind: "Name the planets", "How many oceans are there?"."""
    return bool(_COUNT.search(question) or _LIST.match(question))


def asks_for_extreme(question: str) -> bool:
    """Whether it asks for the largest, the most, the second: one of several things by a value or a rank."""
    return bool(_EXTREME.search(question))
