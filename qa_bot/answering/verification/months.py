"""Months that a passage has as numbers: "2026-02-17" and "17.02." are in February."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.dates import MONTHS

_ISO = r"(?:19|20)\d\d-(\d\d)(?:-\d\d)?"
_WITH_POINTS = r"\d{1,2}\.\s?(\d{1,2})\.(?:\s?(?:19|20)?\d\d)?"
_DATE = re.compile(rf"(?<![\d.-])(?:{_ISO}|{_WITH_POINTS})(?![\d-])")


def month_of(word: str) -> int:
    """The number of a month by its name in several languages, 0 for other words."""
    return MONTHS.get(word.casefold(), 0)


def months_in(text: str) -> set[int]:
    """The months of the dates in a text: ISO 8601, or day, month and perhaps year with points."""
    return {int(first or second) for first, second in _DATE.findall(text)} & set(range(1, 13))
