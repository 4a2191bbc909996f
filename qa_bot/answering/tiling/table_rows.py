"""Tables in a stretch of a passage: rows are whole, and have their header above them."""

from __future__ import annotations

from qa_core.types import Span

_RULE = frozenset("|-: ")


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


def _line_before(text: str, start: int) -> Span | None:
    """The line that ends before `start`, without its line end; None if there is none."""
    end = start - 1
    return (text.rfind("\n", 0, end) + 1, end) if text[max(0, end) : start] == "\n" else None
