"""Lines of plain text that begin with a letter and a point: items of lists, or abbreviations ("i. A.", "z. B.")."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qa_bot.documents.ingest.formats.list_labels import first_labels

LETTER = re.compile(r"\s*([a-z]|[ivx]{1,4})\.(?=\s+\S)")
FIRST = frozenset({"a", "i"})
JOINER = "\u2060"
"""Joins the point to what follows, so that no item begins; it is not shown."""


def with_joiners(lines: Iterable[str]) -> list[str]:
    """The lines with a joiner after each letter that is in no list, which begins with a or i."""
    joined = list(lines)
    matches = [(place, match) for place, line in enumerate(joined) if (match := LETTER.match(line))]
    for (place, match), first in zip(matches, first_labels([match[1] for _, match in matches]), strict=True):
        if first not in FIRST:
            joined[place] = joined[place][: match.end()] + JOINER + joined[place][match.end() :]
    return joined


def without_joiners(text: str) -> str:
    """The text for readers."""
    return text.replace(JOINER, "")
