"""Tables in a stretch of a passage: rows are whole, have their header above them, and are named by numbers."""

from __future__ import annotations

import re
from collections.abc import Collection

from qa_core.text.analysis import terms
from qa_core.types import Span

_RULE = frozenset("|-: ")
_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_TABLE = re.compile(r"\|.*(?:\n\|.*)*")
_JOINED = re.compile(r"([^\W\d_]+)(\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_RANGE = re.compile(r"(\d+)\s*(?:[-–—]|to|bis|à)\s*(\d+)\b")


def header_above(text: str, start: int) -> Span | None:
    """The header, with the line below it, of the table in whose rows `start` is; None in other places.

    Args:
        text: Markdown.
        start: a position in it, at the beginning of a line.
    """
    first = start
    while first > 0 and (line := _line_before(text, first)) and text.startswith("|", line[0]):
        first = line[0]
    lines = text[first:].split("\n", 2)
    is_table = len(lines) == 3 and lines[0].startswith("|") and set(lines[1]) <= _RULE
    below = first + len(lines[0]) + len(lines[1]) + 2 if is_table else 0
    return (first, below) if is_table and below <= start and text.startswith("|", start) else None


def at_end_of_row(text: str, least: int, end: int) -> int:
    """`end`, moved back to the end of the row before if it is inside a row of a table, but not before `least`."""
    line = text.rfind("\n", 0, end) + 1
    is_inside = text.startswith("|", line) and line < end and text[end : end + 1] not in {"", "\n"}
    return max(least, line - 1) if is_inside and line > 0 else end


def add_rows(text: str, rows: str) -> str:
    """A text that begins with a table, with further rows below the last one of this table."""
    table = _TABLE.match(text)
    end = table.end() if table else 0
    return f"{text[:end]}\n{rows}{text[end:]}"


def _line_before(text: str, start: int) -> Span | None:
    """The line that ends before `start`, without its line end; None if there is none."""
    end = start - 1
    return (text.rfind("\n", 0, end) + 1, end) if text[max(0, end) : start] == "\n" else None


def row_names(text: str, row: Span, question: Collection[str], language: str) -> frozenset[str]:
    """The terms of a question whose number names a row: in its first cell stands the number, or a range with it.

    "Band 6" names the row "| 5 – 6 | 8 weeks |" below "| Band | Notice |", and "4.1" the row "| 4.1 | 3.8 |".

    Args:
        text: Markdown.
        row: the span of a row in it.
        question: index terms in the analysis of `language`; "band6" is the 6 of a band.
    """
    header = header_above(text, row[0])
    if header is None:
        return frozenset()
    cell = _first_cell(text[slice(*row)])
    words = {*terms(_first_cell(text[slice(*header)]), language), *terms(cell, language)}
    return frozenset(term for term in question if _is_named(term, cell, words, question, language))


def named_by_rows(text: str, question: Collection[str], language: str) -> frozenset[str]:
    """The terms of a question whose number names a row of a table in a text; see `row_names`."""
    return frozenset(term for row in _ROW.finditer(text) for term in row_names(text, row.span(), question, language))


def _first_cell(line: str) -> str:
    return line.strip().removeprefix("|").partition("|")[0].strip(" *`")


def _is_named(term: str, cell: str, words: set[str], question: Collection[str], language: str) -> bool:
    joined = _JOINED.fullmatch(term)
    number = joined[2] if joined else term
    if not _NUMBER.fullmatch(number):
        return False
    if joined and not words & {*terms(joined[1], language)}:
        return False
    if cell == number:
        return True
    is_about = bool(joined) or any(word in question for word in words)
    spans = _RANGE.findall(cell) if is_about and number.isdigit() else ()
    return any(int(least) <= int(number) <= int(most) for least, most in spans)
