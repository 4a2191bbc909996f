"""Running headers and footers: rows at the edges of pages that repeat, and page numbers.

Rows repeat if they differ in their numbers only. Headings at the top of pages may do so, too: "Chapter 1", "Chapter 2".
A row of several pieces also repeats if one of them does: the manual's name on the left, the chapter's on the right.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from qa_bot.documents.ingest.formats.pages.lines import Line
from qa_bot.documents.ingest.formats.pages.typography import LARGER

EDGE_ROWS = 2
EDGE = 0.13  # share of the page's height
FEWEST = 3  # pages with the row
PIECE_SHARE = 1 / 3  # of the pages have the piece of a row whose other pieces change
BODY_GAP = 0.8  # heights between a running line and the text; a table's header is closer to its rows
NUMBER = re.compile(
    r"[-–—\s]*(?:(?:page|seite|p\.|s\.)\s*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:/|of|von|sur|de)\s*\d{1,5})?[-–—\s]*"
)
LONE_NUMBER = re.compile(r"[-–—\s]*(?:page|seite)\s*\d{1,5}(?:\s*(?:/|of|von|sur|de)\s*\d{1,5})?[-–—\s]*")
"""The number of the only page."""
HEADING_NAME = re.compile(
    r"(?:chapter|section|part|appendix|unit|lesson|module|annex|article|volume|book|kapitel|abschnitt|teil|anhang|modul|"
    r"lektion|artikel|band|chapitre|partie|annexe|leçon|capítulo|sección|parte|anexo|capitolo|sezione|hoofdstuk|deel)"
    r"\s+\d",
    re.IGNORECASE,
)
Row = list[Line]


class RunningLines:
    """Counts the rows at the edges of all pages, then removes those that repeat."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._texts: Counter[tuple[str, str]] = Counter()
        self._pieces: Counter[tuple[str, str]] = Counter()
        self._offsets: defaultdict[str, Counter[int]] = defaultdict(Counter)  # of numbers from those of their pages
        self._sizes: Counter[tuple[float, bool]] = Counter()  # and weights, by characters
        self._pages = 0

    def count(self, rows: Sequence[Row], height: float) -> None:
        """Take the rows of a page of this height into account."""
        self._pages += 1
        for edge, ordered in (("top", rows), ("bottom", rows[::-1])):
            edges = _edges(ordered, height, edge)
            texts = {_text(row) for row in edges}
            self._pieces.update({(edge, _key(line.text)) for row in edges if len(row) > 1 for line in row})
            self._texts.update((edge, text) for text in texts)
            self._counts.update({(edge, _key(text)) for text in texts})
            for text in texts:
                self._offsets[_key(text)].update(number - self._pages for number in _numbers(text))
        for row in rows:
            for line in row:
                self._sizes[line.size, line.is_bold] += len(line.text)

    def body(self, rows: Sequence[Row], height: float) -> list[Row]:
        """The rows of a page without the running ones."""
        if self._pages < 2:
            last = _edges(rows[-1:], height, "bottom")
            return list(rows[: len(rows) - sum(LONE_NUMBER.fullmatch(_text(row).lower()) is not None for row in last)])
        top = self._running("top", rows, height)
        bottom = self._running("bottom", rows[::-1], height)
        return list(rows[top : len(rows) - bottom]) if top + bottom < len(rows) else []

    def _running(self, edge: str, rows: Sequence[Row], height: float) -> int:
        """How many rows at an edge, counted from the edge, are running ones: the last of them is set off."""
        inside = _edges(rows, height, edge)
        for count in range(len(inside), 0, -1):
            if (count == len(rows) or _is_set_off(rows[count - 1], rows[count])) and all(
                self._repeats(edge, row) for row in inside[:count]
            ):
                return count
        return 0

    def _repeats(self, edge: str, row: Row) -> bool:
        text = _text(row)
        if NUMBER.fullmatch(text.lower()):
            return True
        count = self._counts[edge, _key(text)]
        is_frequent = count >= FEWEST or (count == self._pages == 2) or self._has_frequent_piece(edge, row)
        return is_frequent and not (edge == "top" and self._is_heading(row))

    def _has_frequent_piece(self, edge: str, row: Row) -> bool:
        """Whether one of the words that stand apart in this row is on many pages, while the others change."""
        counts = [self._pieces[edge, _key(line.text)] for line in row if any(map(str.isalpha, line.text))]
        return len(row) > 1 and max(counts, default=0) >= max(FEWEST, PIECE_SHARE * self._pages)

    def _is_heading(self, row: Row) -> bool:
        """Whether a row that repeats but for its number is a heading: it stands out, and counts no pages."""
        text, line = _text(row), row[0]
        if len(_numbers(text)) != 1 or self._texts["top", text] > 1:
            return False
        (body, is_bold), _ = self._sizes.most_common(1)[0]
        is_large = line.size >= LARGER * body
        if HEADING_NAME.match(text):
            return is_large or (line.is_bold and not is_bold)
        return is_large and max(self._offsets[_key(text)].values()) < FEWEST


def _edges(rows: Sequence[Row], height: float, edge: str) -> list[Row]:
    """The rows at an edge of the page, of rows in their order from that edge."""
    if edge == "top":
        return [row for row in rows[:EDGE_ROWS] if row[0].bottom < EDGE * height]
    return [row for row in rows[:EDGE_ROWS] if row[0].top > (1 - EDGE) * height]


def _is_set_off(row: Row, following: Row) -> bool:
    """Whether a row is apart from the text that follows; a large heading may follow a small running line closely."""
    return _distance(row, following) > BODY_GAP * min(row[0].size, following[0].size)


def _distance(one: Row, other: Row) -> float:
    above, below = sorted((one[0], other[0]), key=lambda line: line.top)
    return below.top - above.bottom


def _key(text: str) -> str:
    return re.sub(r"\d+", "#", text).casefold()


def _numbers(text: str) -> list[int]:
    return [int(number[-9:]) for number in re.findall(r"\d+", text)]


def _text(row: Row) -> str:
    return " ".join(line.text for line in row)
