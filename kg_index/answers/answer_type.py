"""What kind of answer a question asks for, by how it is worded."""

from __future__ import annotations

import re
from typing import Literal

from qa_core.text.analysis import terms

AnswerType = Literal["count", "date", "number", "entity", "any", "prose"]
"""A number of things, a date or year, a quantity, somebody or some place, whatever there is; or what no fact is:
whether, why or how something is so."""

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
ASKING = frozenset(
    terms("many much list give show find tell please all there located called which you know number count total")
)
"""Stems of words that ask, beside those of `kg_index.relations.keywords`."""


def expected_type(question: str) -> AnswerType:
    """What the answer should be; "any" where the wording leaves it open."""
    if _PROSE.match(question):
        return "prose"
    if _COUNT.search(question):
        return "count"
    if _DATE.search(question):
        return "date"
    if _NUMBER.search(question):
        return "number"
    return "entity" if _ENTITY.match(question.strip()) else "any"


def listing(question: str) -> bool:
    """Whether all things of a kind may be asked for: "Name the planets", "How many oceans are there?"."""
    return bool(_COUNT.search(question) or _LIST.match(question))
