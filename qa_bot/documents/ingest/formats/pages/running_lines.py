"""Running headers and footers: rows at the edges of pages that repeat, and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from qa_bot.documents.ingest.formats.pages.lines import Line

EDGE_ROWS = 2
EDGE = 0.13  # share of the page's height
FEWEST = 3  # pages with the row
BODY_GAP = 0.8  # heights between a running line and the text; a table's header is closer to its rows
NUMBER = re.compile(
    r"[-–—\s]*(?:(?:page|seite|p\.|s\.)\s*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:/|of|von|sur|de)\s*\d{1,5})?[-–—\s]*"
)
Row = list[Line]


class RunningLines:
    """Counts the rows at the edges of all pages, then removes those that repeat."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._pages = 0

    def count(self, rows: Sequence[Row], height: float) -> None:
        """Take the rows of a page of this height into account."""
        self._pages += 1
        self._counts.update({("top", _key(row)) for row in _edges(rows, height, "top")})
        self._counts.update({("bottom", _key(row)) for row in _edges(rows[::-1], height, "bottom")})

    def body(self, rows: Sequence[Row], height: float) -> list[Row]:
        """The rows of a page without the running ones."""
        if self._pages < 2:
            return list(rows)
        top = self._running("top", rows, height)
        bottom = self._running("bottom", rows[::-1], height)
        return list(rows[top : len(rows) - bottom]) if top + bottom < len(rows) else []

    def _running(self, edge: str, rows: Sequence[Row], height: float) -> int:
        """How many rows at an edge, counted from the edge, are running ones: the last of them is set off."""
        inside = _edges(rows, height, edge)
        for count in range(len(inside), 0, -1):
            is_set_off = count == len(rows) or _distance(rows[count - 1], rows[count]) > BODY_GAP * rows[count][0].size
            if is_set_off and all(self._repeats(edge, row) for row in inside[:count]):
                return count
        return 0

    def _repeats(self, edge: str, row: Row) -> bool:
        count = self._counts[edge, _key(row)]
        if NUMBER.fullmatch(_text(row).lower()):
            return True
        return count >= FEWEST or (count == self._pages == 2)


def _edges(rows: Sequence[Row], height: float, edge: str) -> list[Row]:
    """The rows at an edge of the page, of rows in their order from that edge."""
    if edge == "top":
        return [row for row in rows[:EDGE_ROWS] if row[0].bottom < EDGE * height]
    return [row for row in rows[:EDGE_ROWS] if row[0].top > (1 - EDGE) * height]


def _distance(one: Row, other: Row) -> float:
    above, below = sorted((one[0], other[0]), key=lambda line: line.top)
    return below.top - above.bottom


def _key(row: Row) -> str:
    return re.sub(r"\d+", "#", _text(row)).casefold()


def _text(row: Row) -> str:
    return " ".join(line.text for line in row)
