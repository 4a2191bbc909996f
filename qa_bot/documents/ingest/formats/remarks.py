"""Remarks below a table, such as footnotes, which people write into the rows after its last one."""

from __future__ import annotations

import re
from collections.abc import Sequence

NOTE = re.compile(r"(?:\*{1,4}|[†‡¹²³⁴⁵⁶⁷⁸⁹]|\(?\d{1,2}\)|\[\d{1,2}\])\s*[^\W\d_].*", re.DOTALL)
"""A note below a table, with its sign or number."""
LABELLED = re.compile(r"[^\W\d_][^:\n]{0,40}:\s+\S")
FEWEST_WORDS = 4
LONGER = 1.5
"""Times the longest cell of the first column that a remark without a sign has."""


def divided(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """The rows of a table, and the remarks in those at its end, which have one cell each."""
    body = [list(row) for row in rows]
    end = len(body)
    while end > 1 and sum(map(bool, body[end - 1])) == 1 < len(body[end - 1]):
        end -= 1
    longest = max((len(row[0]) for row in body[:end] if row), default=0)
    texts = ["".join(row) for row in body[end:]]
    first = next((place for place in range(len(texts)) if _are_remarks(texts[place:], longest)), len(texts))
    return body[: end + first], texts[first:]


def are_notes(cells: Sequence[str]) -> bool:
    """Whether cells below each other, which are no part of a table, are its notes."""
    return bool(cells) and all(map(NOTE.fullmatch, cells))


def _are_remarks(texts: Sequence[str], longest: int) -> bool:
    return all(NOTE.fullmatch(text) or LABELLED.match(text) or _is_statement(text, longest) for text in texts)


def _is_statement(text: str, longest: int) -> bool:
    return len(text.split()) >= FEWEST_WORDS and len(text) > LONGER * longest
