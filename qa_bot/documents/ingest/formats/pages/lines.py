"""Words of a page, the pieces of lines that they make, and lines of flowing text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from qa_bot.documents.ingest.formats.run_marks import RAISED, RAISED_END, resolved

CELL_GAP = 0.55  # heights; a wider gap between words may divide cells
COLUMN_GAP = 1.2  # heights; a wider gap divides columns of text; justified lines have narrower ones
MARKER_GAP = 6.0  # heights; between a bullet or a number and its text
EQUAL_GAPS = 0.25  # heights between the narrowest and the widest gap of a justified line
JUSTIFIED_GAP = 3.0  # heights; wider gaps divide cells even if they are equal
WIDER = 1.6  # times the narrowest gap of a line
SAME_WORD_GAP = 0.1  # heights; between pieces of one word
BULLETS = "•◦▪▫‣●○■□◆◇▶►▸◾◽⁃⦁❖★☆➔➜→➢➤✓✔✗✘∙·*–—\uf021-\uf0ff-"
"""Signs that begin items, as a set of a regular expression, with those of fonts of symbols."""
TICKS = "☐☑☒"
ROUND_LETTER, BULLET_GAP = "o", 0.7
"""Word's bullet of the second level, and the heights after it at least; words are closer to each other."""
MARKER = re.compile(rf"(?:[{BULLETS}{TICKS}]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,4}})[.)]|\d{{1,2}}(?:\.\d{{1,2}})+\.?)")
RAISED_GAP = re.compile(rf" (?={RAISED})|(?<={RAISED_END}) (?=[.,;:!?)])")
"""The space that PDFium puts before raised text, and between it and a sign."""
BREAK_HYPHENS = "\x02\ufffe"
"""What PDFium writes for a hyphen at the end of a line; the text goes on without a space."""
LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
UNWRITTEN = {0xAD: None, 0x00: None, 0xA0: " ", **LIGATURES}


class Word(NamedTuple):
    """A word and its box in points; y grows downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    is_bold: bool = False
    is_mono: bool = False


class Rule(NamedTuple):
    """A horizontal line that is drawn on the page, in points."""

    left: float
    right: float
    y: float


class Upright(NamedTuple):
    """A vertical line that is drawn on the page, in points."""

    x: float
    top: float
    bottom: float


@dataclass(slots=True)
class Line:
    """A line of a column, or a cell's line; `size` is the height of its characters in points."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    is_bold: bool = False
    is_mono: bool = False

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def is_beside(self, other: Line) -> bool:
        """Whether both are in one row of the page."""
        overlap = min(self.bottom, other.bottom) - max(self.top, other.top)
        return overlap > 0.5 * min(self.bottom - self.top, other.bottom - other.top)


def pieces_of(words: Iterable[Word], uprights: Iterable[Upright] = ()) -> list[Line]:
    """Words without gaps or drawn lines that may divide cells, in the order of the file."""
    pieces: list[Line] = []
    current: list[Word] = []
    dividers = sorted(uprights)
    for word in words:
        if current and (not _is_next(current[-1], word) or (dividers and _are_divided(current[-1], word, dividers))):
            pieces += _split(current)
            current = []
        current.append(word)
    if current:
        pieces += _split(current)
    return [piece for piece in pieces if piece.text]


def rows_of(pieces: Iterable[Line]) -> list[list[Line]]:
    """Pieces side by side, from top to bottom, each row from left to right."""
    rows: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        if rows and all(piece.is_beside(other) and _gap(*_in_order(piece, other)) > -0.3 for other in rows[-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def joined(row: Sequence[Line]) -> list[Line]:
    """The lines of a row: its pieces without gaps that divide columns."""
    lines: list[Line] = []
    for piece in row:
        if lines and -0.3 < _gap(lines[-1], piece) <= _limit(lines[-1].text, COLUMN_GAP):
            lines[-1] = merged(lines[-1], piece)
        else:
            lines.append(piece)
    return lines


def merged(left: Line, right: Line) -> Line:
    """Two neighbours in a row as one line; the right one comes first in scripts that are written to the left."""
    space = " " if _gap(left, right) > SAME_WORD_GAP else ""
    first, second = (right, left) if _is_written_to_the_left(left.text + right.text) else (left, right)
    longer = left if len(left.text) >= len(right.text) else right
    return Line(
        f"{first.text}{space}{second.text}",
        min(left.left, right.left),
        min(left.top, right.top),
        max(left.right, right.right),
        max(left.bottom, right.bottom),
        longer.size,
        left.is_bold and right.is_bold,
        left.is_mono and right.is_mono,
    )


def _is_written_to_the_left(text: str) -> bool:
    """Whether most letters are Hebrew, Arabic or the like."""
    if text.isascii():
        return False
    directions = [unicodedata.bidirectional(character) for character in text]
    return directions.count("R") + directions.count("AL") > directions.count("L")


def _gap(left: Line, right: Line) -> float:
    return (right.left - left.right) / max(left.size, right.size, 1.0)


def _limit(text: str, limit: float) -> float:
    return MARKER_GAP if MARKER.fullmatch(text) else limit


def _in_order(one: Line, other: Line) -> tuple[Line, Line]:
    return (one, other) if one.left <= other.left else (other, one)


def _is_next(last: Word, word: Word) -> bool:
    """Whether the word follows in the same row."""
    height = max(last.bottom - last.top, word.bottom - word.top)
    overlap = min(last.bottom, word.bottom) - max(last.top, word.top)
    is_in_row = overlap >= 0.4 * min(last.bottom - last.top, word.bottom - word.top)
    return is_in_row and word.left - last.right > -height


def _are_divided(last: Word, word: Word, dividers: Sequence[Upright]) -> bool:
    """Whether one of the lines, from left to right, is between two words."""
    start, end = (bisect_left(dividers, x, key=lambda upright: upright.x) for x in (last.right, word.left))
    middle = (word.top + word.bottom) / 2
    return any(upright.top <= middle <= upright.bottom for upright in dividers[start:end])


def _split(words: Sequence[Word]) -> list[Line]:
    """Divides a row at its wide gaps; a justified line, whose gaps are equal, has none."""
    height = max(1.0, max(word.bottom - word.top for word in words))
    gaps = [
        0.0 if after.text.startswith(RAISED) else (after.left - before.right) / height
        for before, after in pairwise(words)
    ]
    if MARKER.fullmatch(words[0].text) and gaps and gaps[0] <= MARKER_GAP:
        gaps[0] = min(0.0, *gaps)  # the marker belongs to its text
    for place in range(1, len(gaps)):
        if words[place].text in TICKS and gaps[place] < min(MARKER_GAP, gaps[place - 1]):
            gaps[place] = 0.0
    if words[0].text == ROUND_LETTER and gaps and BULLET_GAP <= gaps[0] <= MARKER_GAP:
        words = [words[0]._replace(text="◦"), *words[1:]]
        gaps[0] = min(0.0, *gaps)
    inner = gaps[1:] if gaps and gaps[0] <= 0 else gaps
    narrowest = min((gap for gap in inner if gap > 0), default=0.0)
    widest = max(inner, default=0.0)
    if len(inner) > 1 and widest - narrowest <= EQUAL_GAPS and widest < JUSTIFIED_GAP:
        return [_piece(words)]
    limit = CELL_GAP if narrowest > CELL_GAP else max(CELL_GAP, WIDER * narrowest)
    pieces, start = [], 0
    for index, gap in enumerate(gaps, 1):
        if gap > limit:
            pieces.append(_piece(words[start:index]))
            start = index
    return [*pieces, _piece(words[start:])]


def _piece(words: Sequence[Word]) -> Line:
    heights = sorted(word.bottom - word.top for word in words for _ in word.text)
    return Line(
        resolved(RAISED_GAP.sub("", " ".join(word.text for word in words))).translate(UNWRITTEN).strip(),
        min(word.left for word in words),
        min(word.top for word in words),
        max(word.right for word in words),
        max(word.bottom for word in words),
        round(heights[len(heights) // 2], 1),
        all(word.is_bold for word in words),
        all(word.is_mono for word in words),
    )
