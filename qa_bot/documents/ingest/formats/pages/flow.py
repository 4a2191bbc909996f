"""Writes the lines and tables of successive pages as Markdown: headings, paragraphs, lists, code, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

from qa_bot.documents.ingest.formats.list_labels import first_labels
from qa_bot.documents.ingest.formats.pages.lines import BREAK_HYPHENS, BULLETS, TICKS, Line
from qa_bot.documents.ingest.formats.pages.tables.table import Table
from qa_bot.documents.ingest.formats.pages.typography import Typography
from qa_bot.documents.ingest.formats.remarks import divided
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

PARAGRAPH_GAP = 1.25  # times the usual distance of lines
SAME_EDGE = 10.0  # points between the edges of the parts of a table
SAME_LEFT = 0.4  # heights between the left edges of rows
SHORT = 0.6  # of the width that text could take
ROOM = 0.3  # heights after a word that has room on a line
NARROW = 10.0  # heights; a column of text is wider
NARROW_LINES = 2
USUAL_PITCH = 1.15  # heights, if a page has too few lines to measure it
BULLET = re.compile(rf"[{BULLETS}]\s+(?=\S)")
NUMBER = re.compile(r"\(?(\d{1,3})[.)]\s+(?=\S)")
LETTER = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,4})[.)]\s+(?=\S)")
POINTED = re.compile(r"([a-zA-Z]|[ivx]{1,4})\.\s+(?=\S)")
"""A letter of a list, or an initial or an abbreviation: "A. Okoro and B. Lind", "i. A. Thorwald"."""
TICKED = re.compile(rf"[{TICKS}]\s+(?=\S)")
NUMBERED_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*\.?|[A-Z]\.|(?:chapter|kapitel|appendix|part|section) \w+)\s", re.IGNORECASE
)
HYPHENATED = ("-", "\u2010", *BREAK_HYPHENS)
HYPHENS = str.maketrans(dict.fromkeys(BREAK_HYPHENS, "-"))
SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")


class Flow:
    """The text of a document, page by page; a paragraph may go on at the next page."""

    def __init__(self, typography: Typography) -> None:
        self.writer = MarkdownWriter()
        self._typography = typography
        self._open: _Block | None = None
        self._page = 0
        self._last_table: Table | None = None  # if no other block came after it
        self._last_page = 0
        self._markers: list[float] = []  # left edges of the markers of the lists that are open

    def add(
        self, page: int, regions: Sequence[Sequence[Line | Table]], notes: Sequence[str] = (), width: float = 0.0
    ) -> None:
        """The next page, its regions in reading order, remarks on it, and its width, or 0 if that is unknown."""
        pitch = _pitch(regions)
        initials = _initials([box for region in regions for box in region if isinstance(box, Line)])
        for region, limit in zip(regions, _limits(regions, width), strict=True):
            right = _right_edge(region)
            parts = [
                box
                if isinstance(box, Table)
                else _block(page, box, self._typography.level(box), is_initial=id(box) in initials)
                for box in region
            ]
            short = _short_lines(parts, pitch, limit)
            previous: Line | None = None
            for part in parts:
                if isinstance(part, Table):
                    self._table(page, part)
                    previous = None
                else:
                    self._line(part, previous, pitch, right, is_short=id(part) in short)
                    previous = part.line
        for note in notes:
            self._flush()
            self._mark(page)
            self.writer.paragraph(note)

    def end(self) -> None:
        """Write the last block."""
        self._flush()

    def _line(self, block: _Block, previous: Line | None, pitch: float, right: float, *, is_short: bool) -> None:
        line, last = block.line, self._open
        is_break = previous is not None and not line.is_beside(previous) and _is_forced_break(previous, line, right)
        if last is None or not self._goes_on(last, block, previous, pitch) or (is_break and _is_whole(last)):
            self._flush()
            self._set_depth(block)
            self._open = block
        elif block.kind == "code":
            last.text += "\n" + _indented(line, last.left)
        elif is_break or (is_short and last.kind == "text"):
            last.text += f"\n{line.text}"
        else:
            last.text = self._typography.together(last.text, line.text)

    def _goes_on(self, last: _Block, block: _Block, previous: Line | None, pitch: float) -> bool:
        """Whether a line belongs to the block before it."""
        line = block.line
        if TICKED.match(line.text):
            return previous is not None and line.is_beside(previous) and last.kind == "text"
        if last.kind == "heading" or block.kind == "heading":
            return previous is not None and last.kind == block.kind and _is_same_heading(last, block, previous)
        if block.kind in {"item", "step"} and not self._is_text(last, block, previous):
            return False
        is_other_size = abs(line.size - (previous or last.line).size) > 0.15 * line.size
        if previous is None:  # the next column or page
            is_cut = not SENTENCE_END.search(last.text) and line.text[0].islower() and not is_other_size
            return is_cut and last.kind in {"text", "item", "step"}
        if (last.kind == "code") != (block.kind == "code") or is_other_size:
            return False
        if line.is_beside(previous):  # a label and its value
            return last.kind == block.kind == "text"
        gap = line.top - previous.top
        if gap > PARAGRAPH_GAP * max(pitch, line.size) or gap < 0:
            return False
        if last.kind in {"item", "step"}:
            return line.left > last.left + 0.4 * line.size or not SENTENCE_END.search(last.text)
        is_indented = line.left - previous.left > 0.8 * line.size and bool(SENTENCE_END.search(last.text))
        return last.kind == "code" or not is_indented

    def _is_text(self, last: _Block, block: _Block, previous: Line | None) -> bool:
        """Whether what looks like a number of a list is the end of a sentence (`in\\n1998. Then …`)."""
        if block.kind != "step" or previous is None or last.kind == "code":
            return False
        is_next = block.number == 1 or (last.kind == "step" and block.number == (last.number or 0) + 1)
        is_flush = abs(block.left - previous.left) < 0.4 * block.line.size
        return not is_next and is_flush and not SENTENCE_END.search(last.text)

    def _set_depth(self, block: _Block) -> None:
        """The depth of an item in its list, by the left edges of the markers before it."""
        if block.kind not in {"item", "step"} or block.is_clause:
            self._markers = []
            return
        while self._markers and block.left < self._markers[-1] - 0.5 * block.line.size:
            self._markers.pop()
        if not self._markers or block.left > self._markers[-1] + 0.5 * block.line.size:
            self._markers.append(block.left)
        block.depth = len(self._markers) - 1

    def _table(self, page: int, table: Table) -> None:
        self._flush()
        self._mark(page)
        table = replace(table, rows=[[self._cell(cell) for cell in row] for row in table.rows])
        if _are_steps(table):
            for number, (_, text) in enumerate(table.rows, 1):
                self.writer.item(text, number=number)
            return
        rows, has_header = table.rows, table.has_header
        if self._last_table and self._last_page == page - 1 and _is_continued(self._last_table, table):
            header = self._last_table.rows[0]
            rows, has_header = [header, *(rows[1:] if rows[0] == header else rows)], True
        rows, remarks = divided(rows)
        self.writer.table(rows, header=has_header)
        self._last_table, self._last_page = replace(table, rows=rows, has_header=has_header), page
        for remark in remarks:
            self._last_table = None
            self.writer.paragraph(remark)

    def _cell(self, text: str) -> str:
        return reduce(self._typography.together, text.split("\n")).translate(HYPHENS)

    def _flush(self) -> None:
        block, self._open = self._open, None
        if block is None:
            return
        self._last_table = None
        self._mark(block.page)
        block.text = block.text.translate(HYPHENS)
        match block.kind:
            case "heading":
                self.writer.heading(block.level, block.text)
            case "item":
                self.writer.item(block.text, depth=block.depth)
            case "step" if block.is_clause:
                self.writer.paragraph(f"({block.number}) {block.text}")
            case "step":
                self.writer.item(block.text, depth=block.depth, number=block.number)
            case "code":
                self.writer.code(block.text)
            case _:
                self.writer.paragraph(block.text)

    def _mark(self, page: int) -> None:
        if page != self._page:
            self.writer.page(page)
            self._page = page


def _are_steps(table: Table) -> bool:
    """Whether a table is a list of steps: beside each one only its number, without a point, as in a circle."""
    numbers = [str(number) for number in range(1, len(table.rows) + 1)]
    is_counted = all(len(row) == 2 for row in table.rows) and [row[0] for row in table.rows] == numbers
    return is_counted and all(any(map(str.isalpha, row[1])) for row in table.rows)


def _is_continued(above: Table, table: Table) -> bool:
    """Whether a table goes on at the top of the next page."""
    is_alike = abs(above.left - table.left) < SAME_EDGE and len(above.rows[0]) == len(table.rows[0])
    return above.has_header and is_alike


@dataclass(slots=True)
class _Block:
    """A block that further lines may join; its kind is heading, text, item, step or code."""

    page: int
    line: Line
    kind: str
    text: str
    level: int = 0
    number: int | None = None
    depth: int = 0
    is_clause: bool = False
    """Whether the number of a step is in parentheses, as those of paragraphs of rules are: "(2) Dogs are allowed."."""

    @property
    def left(self) -> float:
        return self.line.left


def _initials(lines: Sequence[Line]) -> set[int]:
    """The lines of a page that begin with a letter and a point, but are in no list."""
    marked = [(match[1], line) for line in lines if (match := POINTED.match(line.text))]
    firsts = first_labels([label for label, _ in marked])
    return {id(line) for (_, line), first in zip(marked, firsts, strict=True) if not first}


def _block(page: int, line: Line, level: int | None, *, is_initial: bool) -> _Block:
    text = line.text
    if level is not None:
        return _Block(page, line, "heading", text, level=level)
    if line.is_mono and not BULLET.match(text):
        return _Block(page, line, "code", text)
    if match := BULLET.match(text):
        return _Block(page, line, "item", text[match.end() :])
    if match := NUMBER.match(text):
        is_clause = match[0].startswith("(") and ")" in match[0]
        return _Block(page, line, "step", text[match.end() :], number=int(match[1]), is_clause=is_clause)
    if LETTER.match(text) and not is_initial:
        return _Block(page, line, "item", text)
    return _Block(page, line, "text", text)


def _is_whole(block: _Block) -> bool:
    """Whether a text ends with a sentence."""
    return block.kind == "text" and block.text[-1] in ".!?"


def _is_same_heading(last: _Block, block: _Block, previous: Line) -> bool:
    """Whether a heading has a second line."""
    line = block.line
    is_aligned = abs(line.left - previous.left) < line.size or abs(_centre(line) - _centre(previous)) < line.size
    is_close = 0 < line.top - previous.top < 1.6 * line.size
    return last.level == block.level and is_close and is_aligned and not NUMBERED_HEADING.match(line.text)


def _centre(line: Line) -> float:
    return (line.left + line.right) / 2


def _pitch(regions: Sequence[Sequence[Line | Table]]) -> float:
    """The usual distance of successive lines in points."""
    distances = sorted(
        second.top - first.top
        for region in regions
        for first, second in pairwise(region)
        if isinstance(first, Line) and isinstance(second, Line) and 0 < second.top - first.top < 2.5 * first.size
    )
    if len(distances) > 4:
        return distances[len(distances) // 3]
    sizes = [box.size for region in regions for box in region if isinstance(box, Line)]
    return USUAL_PITCH * max(sizes, default=0.0)


def _right_edge(region: Sequence[Line | Table]) -> float:
    edges = sorted(box.right for box in region if isinstance(box, Line))
    return edges[int(0.95 * len(edges))] if edges else 0.0


def _is_forced_break(previous: Line, line: Line, right: float) -> bool:
    """Whether the line's first word had room on the line before it."""
    is_broken_word = previous.text.endswith(HYPHENATED)
    return not is_broken_word and previous.right + _first_word(line) + 2 * line.size < right


def _first_word(line: Line) -> float:
    """The width of a line's first word and a space."""
    return (len(line.text.split()[0]) + 1) * (line.right - line.left) / max(1, len(line.text))


def _limits(regions: Sequence[Sequence[Line | Table]], width: float) -> list[float]:
    """How far text could go in each region of a page of this width: to what is beside it, or to the margin."""
    boxes = [box for region in regions for box in region]
    margin = width - min((box.left for box in boxes), default=0.0)
    limits: list[float] = []
    for region in regions:
        top, bottom = min(box.top for box in region), max(box.bottom for box in region)
        right = max(box.right for box in region)
        beside = [box.left for box in boxes if box.left > right and box.bottom > top and box.top < bottom]
        limits.append(min([margin, *beside]))
    return limits


def _short_lines(parts: Sequence[_Block | Table], pitch: float, limit: float) -> set[int]:
    """The lines of text that do not go on with the line above: rows of several texts, and short lines."""
    return {
        id(row[0])
        for rows in _stretches(parts, pitch)
        for are_short in [_are_short([[block.line for block in row] for row in rows], limit)]
        for above, row in pairwise(rows)
        if (are_short and not _ends_sentence(row)) or _is_apart(above, row)
    }


def _stretches(parts: Sequence[_Block | Table], pitch: float) -> list[list[list[_Block]]]:
    """Stretches of rows of text that are close to each other; a row may have several texts beside each other."""
    stretches: list[list[list[_Block]]] = []
    above: list[_Block] = []
    for part in parts:
        if isinstance(part, Table) or part.kind != "text":
            above = []
        elif above and part.line.is_beside(above[-1].line):
            above.append(part)
        else:
            gap = part.line.top - above[-1].line.top if above else 0.0
            if not 0 < gap <= PARAGRAPH_GAP * max(pitch, part.line.size):
                stretches.append([])
            above = [part]
            stretches[-1].append(above)
    return stretches


def _ends_sentence(row: Sequence[_Block]) -> bool:
    """Whether a row is the end of a sentence that begins above it."""
    return row[0].text[0].islower() and row[-1].text[-1] in ".!?"


def _is_apart(above: Sequence[_Block], row: Sequence[_Block]) -> bool:
    """Whether one of two rows is texts beside each other, and the lower one does not go on with the last of them."""
    is_flush = row[0].left <= above[0].left + SAME_LEFT * row[0].line.size
    return len(above) + len(row) > 2 and is_flush and not row[0].text[0].islower()


def _are_short(rows: Sequence[Sequence[Line]], limit: float) -> bool:
    """Whether rows end far from their limit, and not where a text would be broken into lines.

    A text in a narrow column is broken where the next word has no room; and a column of few words is none.
    """
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    if right - left > SHORT * (limit - left) or any(row[-1].text.endswith(HYPHENATED) for row in rows):
        return False
    pairs = [(above[-1], row[0]) for above, row in pairwise(rows)]
    has_room = any(
        not SENTENCE_END.search(above.text) and above.right + _first_word(line) + ROOM * line.size < right
        for above, line in pairs
    )
    begins_anew = not any(line.text[0].islower() for _, line in pairs)
    return (has_room and begins_anew) or (len(rows) > NARROW_LINES and right - left < NARROW * rows[0][0].size)


def _indented(line: Line, left: float) -> str:
    width = (line.right - line.left) / max(1, len(line.text))
    return " " * max(0, round((line.left - left) / max(1.0, width))) + line.text
