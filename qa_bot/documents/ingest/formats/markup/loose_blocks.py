"""Tables and lettered lists that people write directly below a line of text, as CommonMark has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LETTERED = re.compile(r"([ \t]*)([a-z])([.)])[ \t]+\S")
FIRST_LETTER = re.compile(r"a[.)](?<=\sa[.)])[ \t]")
GLUED_NUMBERS = (
    re.compile(r"\.\*\*(?<=\d\.\*\*)(?=[^\W\d_])"),
    re.compile(r"\)\*\*(?<=\d\)\*\*)(?=[^\W\d_])"),
)
"""Apart, because a pattern that begins with one sign is searched fast."""
BEFORE_NUMBER = 40  # characters of a line, looked at for what stands before its number
ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}(?=\S)")
OTHER_BLOCK = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[>|<]|(?:-{2,}|={2,}|\*{3,}|_{3,})[ \t]*$)")
"""What ends a lettered list and the text below a table, besides an empty line and an item of another list."""
DASHES = re.compile(r":?-+:?")
PIPE = re.compile(r"(?<!\\)\|")
CODE_INDENT = 4  # columns
LAST_LETTER = "z"


def with_blocks_apart(text: str) -> str:
    """Prose in which each table and lettered list is a block of the list item, or of the text, that it follows.

    Letters count if at least two lines begin with them in order from "a", so "z. B." begins no list; they stay in the
    text of their items. A space is put between the number of an item and its bold text. Indented code is unchanged.
    """
    for glued in GLUED_NUMBERS:
        text = glued.sub(_with_space, text)
    has_letters = ("a." in text and "b." in text) or ("a)" in text and "b)" in text)
    begins = has_letters and (text.startswith(("a.", "a)")) or FIRST_LETTER.search(text))
    if "<pre" not in text and (begins or ("|" in text and "-" in text)):
        return "\n".join(_Lines(text.split("\n")).apart())
    return text


def _with_space(match: re.Match[str]) -> str:
    """The sign after a number and that of bold text, with a space between them if the number begins a line."""
    start = max(0, match.start() - BEFORE_NUMBER)
    before = match.string[start : match.start()]
    is_line_start = start == 0 or "\n" in before
    is_number = is_line_start and before.rpartition("\n")[2].strip().isdecimal()
    return f"{match[0][0]} **" if is_number else match[0]


class _Lines:
    """The lines of a text, read once from the first to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._open_items: list[tuple[int, int]] = []
        """Where the sign and the text begin of each item that is open: the last one is the innermost."""

    def apart(self) -> Iterator[str]:
        """The lines, with tables and lettered lists apart."""
        position, is_after_gap, is_code = 0, True, False
        while position < len(self._lines):
            line = self._lines[position]
            if not line.strip():
                yield line
                is_after_gap = True
                position += 1
                continue
            indent = _indent(line)
            if is_after_gap or line.lstrip().startswith("#"):
                self._close(indent)
            is_code = (is_code or is_after_gap) and indent >= self._column + CODE_INDENT
            end = position + 1
            if is_code:
                yield line
            elif (end := self._lettered_end(position)) > position:
                yield from self._items(position, end)
            elif self._begins_table(position):
                end = self._table_end(position)
                column = 0 if is_after_gap else self._item_column(indent)
                yield from self._table(position, end, " " * max(0, column - indent))
            else:
                end = position + 1
                self._open(line, indent)
                yield line
            position, is_after_gap = end, False

    @property
    def _column(self) -> int:
        return self._open_items[-1][1] if self._open_items else 0

    def _close(self, indent: int) -> None:
        """Items end at a line that is less indented than their text."""
        while self._open_items and indent < self._open_items[-1][1]:
            self._open_items.pop()

    def _open(self, line: str, indent: int) -> None:
        item = ITEM.match(line)
        if item is None:
            return
        self._close(indent)
        if indent < self._column + CODE_INDENT:
            self._open_items.append((indent, len(item[0].expandtabs(4))))

    def _item_column(self, indent: int) -> int:
        """Where the text begins of the item that a block directly below its text belongs to; 0 outside of lists.

        It is the innermost item whose sign is not more indented than the block.
        """
        while len(self._open_items) > 1 and indent < self._open_items[-1][0]:
            self._open_items.pop()
        return self._column

    def _lettered_end(self, position: int) -> int:
        """The end of the lettered list that begins at the line; the line itself if none does."""
        first = LETTERED.match(self._lines[position])
        if first is None or first[2] != "a":
            return position
        expected, indent = "b", _indent(first[1])
        end = position + 1
        while end < len(self._lines):
            line = self._lines[end]
            if not line.strip() or OTHER_BLOCK.match(line) or (ITEM.match(line) and _indent(line) <= indent):
                break
            letter = LETTERED.match(line)
            if letter and (letter[2], letter[3]) == (expected, first[3]):
                expected = chr(ord(expected) + 1) if expected < LAST_LETTER else ""
            elif letter and letter[2] == "a":
                break
            end += 1
        return end if expected != "b" else position

    def _items(self, position: int, end: int) -> Iterator[str]:
        """The lines of a lettered list, each letter as the text of an item."""
        first = _indent(self._lines[position])
        column = self._item_column(first)
        style = LETTERED.match(self._lines[position])
        expected = "a"
        self._open_items.append((column, column + len("- ")))
        for line in self._lines[position:end]:
            letter = LETTERED.match(line)
            if letter and style and (letter[2], letter[3]) == (expected, style[3]):
                yield f"{' ' * column}- {line.lstrip()}"
                expected = chr(ord(expected) + 1) if expected < LAST_LETTER else ""
            else:
                yield " " * (column + max(0, _indent(line) - first)) + line.lstrip()

    def _begins_table(self, position: int) -> bool:
        """Whether the line is the header of a table of GitHub's Markdown."""
        if position + 1 == len(self._lines) or "|" not in self._lines[position]:
            return False
        dashes = self._lines[position + 1]
        if "|" not in dashes or "-" not in dashes or dashes.strip(" \t|:-"):
            return False
        cells = _cells(dashes)
        return len(cells) == len(_cells(self._lines[position])) and all(
            DASHES.fullmatch(cell.strip()) for cell in cells
        )

    def _table_end(self, position: int) -> int:
        """The end of the rows, which have a `|`, and of a line of text directly below them."""
        end = position + 2
        while end < len(self._lines) and "|" in self._lines[end]:
            end += 1
        return end + (end < len(self._lines) and self._is_text(self._lines[end]))

    def _table(self, position: int, end: int, shift: str) -> Iterator[str]:
        """The rows, and the text below them as a paragraph.

        Args:
            shift: white space that puts both into the item of a list above, which goes on below them; "" outside.
        """
        if shift:
            yield ""
        for line in self._lines[position:end]:
            if "|" not in line:
                yield ""
            yield f"{shift}{line}"

    def _is_text(self, line: str) -> bool:
        letter = LETTERED.match(line)
        is_block = OTHER_BLOCK.match(line) or ITEM.match(line) or (letter is not None and letter[2] == "a")
        return bool(line.strip()) and not is_block


def _indent(line: str) -> int:
    """Columns of white space that the line begins with."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(4))


def _cells(row: str) -> list[str]:
    return PIPE.split(row.strip().removeprefix("|").removesuffix("|"))
