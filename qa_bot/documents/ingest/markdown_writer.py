"""Writes the Markdown that every format becomes: the one dialect that the cutter reads.

Blocks are divided by an empty line. Headings are `#` to `######`; list items begin with `- ` or `1. `, nested ones are
indented; a table has a header row and a line of dashes, and one line a row; code is between fences. Only what would
begin another block, and `|` in cells, is escaped: signs inside a line are kept, because answers are also
read as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.line_headings import balanced, bold_heading, is_sentences
from qa_bot.documents.ingest.records import Position

_BLOCK_SIGN = re.compile(r"(?=#{1,6}(?:\s|$)|[-*+](?:\s|$)|>|\||```|~~~|(?:=+|-{2,})\s*$)")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_CLAUSE = re.compile(r"\s*\((\d{1,2})\)\s")
_PLAIN_LABEL = re.compile(r"(?:(?:step|schritt|étape)\s)?\d{1,9}\s?[.):]*", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}")
INDENT = 4  # spaces a level: enough for the contents of "- " and of "10. "
DEEPEST_HEADING = 6
BOLD_LINE = 7  # level of a line in bold type: below all headings


class MarkdownWriter:
    """Collects blocks, the positions of pages and rows among them, and levels and texts of headings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._in_list = False
        self._bold_lines = 0  # outside of lists: the cutter reads them as headings
        self._ended = (0, "")  # level and text of the heading that ends the section above, if anything follows it
        self.positions: list[Position] = []
        self.headings: list[tuple[int, str]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def __len__(self) -> int:
        """Characters so far, for limits."""
        return self._size

    def page(self, number: int) -> None:
        """What follows is on this page or slide."""
        self.positions.append(Position(self._size + (2 if self._parts else 0), page=number))

    def heading(self, level: int, text: str) -> None:
        """A heading of level 1 to 6; an empty one is left out, and one of several sentences is a paragraph."""
        if level > 1 and is_sentences(line := _one_line(text)):
            self.paragraph(balanced(line))
        elif line := _one_line(text):
            level = min(DEEPEST_HEADING, max(1, level))
            if level <= self._ended[0]:
                self._ended = (0, "")
            self.headings.append((level, line))
            self._block(f"{'#' * level} {line}")

    @property
    def headed(self) -> tuple[int, int]:
        """How many headings are above what follows, and how many lines in bold type that are used as headings."""
        return len(self.headings), self._bold_lines

    def end_headings(self, above: tuple[int, int]) -> None:
        """End the sections that began after `above`, a value of `headed`: what follows belongs to the one before.

        An empty heading ends them. If it would end the section before as well, that one's heading is repeated. A line
        in bold type with nothing below it heads what follows.
        """
        if self.headed == above or bold_heading(self._parts[-1]):
            return
        level, text = self.headings[above[0] - 1] if above[0] else (0, "")
        inner = min((level for level, _ in self.headings[above[0] :]), default=BOLD_LINE)
        self._ended = (inner, "") if min(inner, DEEPEST_HEADING) > level else (level, text)

    def paragraph(self, text: str, *, depth: int = 0) -> None:
        """A paragraph; its line ends are kept, empty lines and the numbers of clauses divide it.

        Args:
            depth: the number of list items around it, here and in other blocks; 0 is outside of lists.
        """
        for part in (clause for block in re.split(r"\n\s*\n", text) for clause in clauses(block)):
            lines = [escape_line(line.strip()) for line in part.splitlines() if line.strip()]
            if lines and not depth and lines[0][:2] == "**" and bold_heading(lines[0]):
                self._bold_lines += 1
                if self._ended[0] == BOLD_LINE:
                    self._ended = (0, "")
            if lines:
                self._block("\n".join(lines), depth=depth)

    def item(self, text: str, *, depth: int = 0, number: int | None = None, label: str = "") -> None:
        """An item of a list, or a step with its number; `depth` 0 is the outermost list.

        Args:
            label: the sign of the item as shown, such as "a)", which begins the text unless it is a plain number.
        """
        lines = [escape_line(line.strip()) for line in text.splitlines() if line.strip()]
        if lines:
            indent = " " * (INDENT * depth)
            sign = item_sign(number, label)
            inner = f"\n{indent}{' ' * (2 if sign[0] == '-' else len(sign) + 1)}"
            self._block(f"{indent}{sign} {inner.join(lines)}", in_list=True)

    def end_list(self) -> None:
        """The next item begins another list."""
        self._in_list = False

    def table(
        self, rows: Sequence[Sequence[str]], *, header: bool = True, first_row: int | None = None, depth: int = 0
    ) -> None:
        """A table; shorter rows are filled up. Without `header` the header's cells are empty.

        Args:
            first_row: the number in its sheet of the first row below the header.
        """
        cells = [[_cell(cell) for cell in row] for row in rows]
        width = max(map(len, cells), default=0)
        if not width:
            return
        self._end_section()
        cells = [row + [""] * (width - len(row)) for row in cells]
        head, body = (cells[0], cells[1:]) if header else ([""] * width, cells)
        top = f"{_row(head)}\n|{' --- |' * width}"
        if first_row is not None and body:
            start = self._size + (2 if self._parts else 0)
            self.positions.append(Position(start + len(top) + 1 + 2 * INDENT * depth, row=first_row))
        self._block("\n".join([top, *map(_row, body)]), depth=depth)

    def code(self, text: str, language: str = "", *, depth: int = 0) -> None:
        """A block of code, its lines unchanged."""
        if text.strip():
            fence = max([*_FENCE.findall(text), "``"], key=len) + "`"
            self._block(f"{fence}{language}\n{text.strip(chr(10))}\n{fence}", depth=depth)

    def quote(self, text: str) -> None:
        """A quotation."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            self._block("\n".join(f"> {line}" for line in lines))

    def quoted(self, blocks: MarkdownWriter, *, depth: int = 0) -> None:
        """A quotation of several blocks."""
        if blocks.text:
            self._block("\n".join(f"> {line}".rstrip() for line in blocks.text.split("\n")), depth=depth)

    def raw(self, markdown: str) -> None:
        """Blocks that are in this dialect already."""
        if markdown.strip():
            self._block(markdown.strip("\n"))

    def labelled(self, label: str, blocks: MarkdownWriter) -> None:
        """Blocks below a label, such as "Notes:", which is part of a paragraph that begins them: answers quote both."""
        begins_otherwise = _BLOCK_SIGN.match(blocks.text) or _NUMBERED.match(blocks.text)
        self.raw(f"{label}{chr(10) * 2 if begins_otherwise else ' '}{blocks.text}" if blocks.text else "")

    def _end_section(self) -> None:
        (level, text), self._ended = self._ended, (0, "")
        if level:
            self._block(f"{'#' * min(level, DEEPEST_HEADING)} {text}".rstrip())

    def _block(self, text: str, *, in_list: bool = False, depth: int = 0) -> None:
        self._end_section()
        if depth:  # the item goes on after it
            text = re.sub(r"^(?=.)", " " * (INDENT * depth), text, flags=re.MULTILINE)
            self._in_list, in_list = False, True
        gap = "" if not self._parts else "\n" if in_list and self._in_list else "\n\n"
        self._parts += [gap, text]
        self._size += len(gap) + len(text)
        self._in_list = in_list


def item_sign(number: int | None, label: str = "") -> str:
    """What an item begins with: "1." for a plain number, "- a)" for another label, "-" for a bullet."""
    if label and not _PLAIN_LABEL.fullmatch(label):
        return f"- {label}"
    return "-" if number is None else f"{number}."


def clauses(text: str) -> list[str]:
    """The clauses of rules and contracts, which begin with (1), (2) and so on; the whole text if it has no others.

    A clause begins a line or follows the end of a sentence, and its number is one more than that of the one before:
    "see § 3 (2)" begins none.
    """
    first = _CLAUSE.match(text)
    starts, number = [0], int(first[1]) if first else 0
    while first:
        number += 1
        begin = re.compile(rf"(?:\n[ \t]*|(?<=[.;:!?)\"“”»’])[ \t]+)(?=\({number}\)\s)").search(text, starts[-1] + 1)
        if begin is None:
            break
        starts.append(begin.end())
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def escape_line(line: str) -> str:
    """The line with a backslash before a sign that would begin another block."""
    line = _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line
    return f"\\{line}" if _BLOCK_SIGN.match(line) else line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
