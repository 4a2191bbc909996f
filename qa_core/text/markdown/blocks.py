"""Blocks of a Markdown text that is shown: paragraphs, lists, tables, code, quotations. Time is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from qa_core.text.markdown.inline import Words, inline
from qa_core.types import Span

DEEPEST = 6
"""Lists and quotations inside one another; deeper ones are paragraphs."""
FULL = 60
"""A line of fewer characters was ended on purpose, a longer one was wrapped."""
_LINE = re.compile(r"([^\r\n]+)(?:\r\n|\r|\n)?|\r\n|\r|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( *)(?:[-*+]|(\d{1,3})[.)])(?: {1,4}(?=\S)|[ \t]|$)")  # longer numbers are years
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_DASHES = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_ROW = re.compile(r" *\|.+\|[ \t]*$")
_BAR = re.compile(r"(?<!\\)\||$")
_NEW_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*")

Side = Literal["left", "middle", "right"]
Cell = list[Words]


@dataclass(frozen=True, slots=True)
class Paragraph:
    words: list[Words]
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """`lines` are spans of the text."""

    lines: list[Span]


@dataclass(frozen=True, slots=True)
class Table:
    """`header` is None if the table has none; rows may have different numbers of cells."""

    header: list[Cell] | None
    rows: list[list[Cell]]
    sides: list[Side]


@dataclass(frozen=True, slots=True)
class ListBlock:
    """`numbers` has the number of each step; it is empty for a list without order."""

    items: list[list[Block]]
    numbers: list[int]


@dataclass(frozen=True, slots=True)
class Quotation:
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line between two parts."""


Block = Paragraph | Code | Table | ListBlock | Quotation | Rule


class _Line(NamedTuple):
    words: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.words)

    @property
    def indent(self) -> int:
        return len(self.words) - len(self.words.lstrip())

    @property
    def is_blank(self) -> bool:
        return not self.words or self.words.isspace()

    def without(self, count: int) -> _Line:
        """The line without its first `count` characters."""
        count = min(count, len(self.words))
        return _Line(self.words[count:], self.start + count)


_Lines = Sequence[_Line]
_Reader = Callable[[str, _Lines, int, int], tuple[Block, int] | None]


def blocks(text: str, span: Span | None = None) -> list[Block]:
    """The blocks of a text, or of a part of it; all places are places in the whole text."""
    start, end = span or (0, len(text))
    lines = [_Line(line[1] or "", line.start()) for line in _LINE.finditer(text, start, end)]
    return _blocks(text, lines, 0)


def _blocks(text: str, lines: _Lines, depth: int) -> list[Block]:
    read_blocks: list[Block] = []
    at = _skip_blank(lines, 0)
    while at < len(lines):
        readers = _READERS if depth < DEEPEST else ()
        results = (reader(text, lines, at, depth) for reader in readers)
        block, at = next((result for result in results if result), None) or _paragraph(text, lines, at)
        read_blocks.append(block)
        at = _skip_blank(lines, at)
    return read_blocks


def _skip_blank(lines: _Lines, at: int) -> int:
    while at < len(lines) and lines[at].is_blank:
        at += 1
    return at


def _has_header(lines: _Lines, at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].words or "|" not in lines[at + 1].words:
        return False
    return _DASHES.match(lines[at + 1].words) is not None


def _begins(lines: _Lines, at: int) -> bool:
    """Whether a block other than a paragraph begins with this line."""
    signs = (_FENCE, _HEADING, _QUOTE, _RULE, _ITEM, _ROW)
    return any(sign.match(lines[at].words) for sign in signs) or _has_header(lines, at)


def _inline(text: str, start: int, end: int) -> list[Words]:
    """Words with their line ends; a line that is full, and therefore was wrapped, goes on in the next."""
    lines: list[Words] = []
    for words in inline(text, start, end):
        if words.shown is not None:
            lines.append(words)
            continue
        at = words.start
        for new_line in _NEW_LINE.finditer(text, words.start, words.end):
            first, last = new_line.span()
            lines.append(Words(at, first, words.styles, words.target))
            lines.append(Words(first, last, words.styles, words.target, " " if _is_full(text, first) else "\n"))
            at = last
        lines.append(Words(at, words.end, words.styles, words.target))
    return [words for words in lines if words.start < words.end]


def _is_full(text: str, end: int) -> bool:
    line = text[max(0, end - FULL) : end]
    return len(line) == FULL and "\n" not in line and not line.endswith("  ")


def _paragraph(text: str, lines: _Lines, at: int) -> tuple[Block, int]:
    after = at + 1
    while after < len(lines) and not lines[after].is_blank and not _begins(lines, after):
        if _UNDERLINE.match(lines[after].words):
            break
        after += 1
    is_title = after < len(lines) and _UNDERLINE.match(lines[after].words) is not None
    bare_lines = [line.without(line.indent) for line in lines[at:after]]
    if all(not text[line.end : following.start].strip() for line, following in pairwise(bare_lines)):
        words = _inline(text, bare_lines[0].start, bare_lines[-1].end)
    else:  # in a quotation there are signs between the lines, so each is read alone
        words = []
        for line in bare_lines:
            words += [Words(line.start - 1, line.start, shown="\n")] * bool(words)
            words += _inline(text, line.start, line.end)
    return Paragraph(words, is_title), after + is_title


def _read_code(_text: str, lines: _Lines, at: int, _depth: int) -> tuple[Block, int] | None:
    fence = _FENCE.match(lines[at].words)
    if fence is None:
        return None
    sign, after = fence[1], at + 1
    while after < len(lines):
        line = lines[after].words.strip()
        if line.startswith(sign) and not line.strip(sign[0]):
            break
        after += 1
    indent = lines[at].indent
    code_lines = (line.without(min(indent, line.indent)) for line in lines[at + 1 : after])
    return Code([(line.start, line.end) for line in code_lines]), min(after + 1, len(lines))


def _read_heading(text: str, lines: _Lines, at: int, _depth: int) -> tuple[Block, int] | None:
    sign = _HEADING.match(lines[at].words)
    if sign is None:
        return None
    line = lines[at].without(sign.end())
    words = line.words.rstrip()
    bare = words.rstrip("#")
    if not bare or bare[-1].isspace():
        words = bare.rstrip()
    return Paragraph(_inline(text, line.start, line.start + len(words)), True), at + 1


def _read_rule(_text: str, lines: _Lines, at: int, _depth: int) -> tuple[Block, int] | None:
    return (Rule(), at + 1) if _RULE.match(lines[at].words) else None


def _read_quotation(text: str, lines: _Lines, at: int, depth: int) -> tuple[Block, int] | None:
    quoted_lines: list[_Line] = []
    after = at
    while after < len(lines) and not lines[after].is_blank:
        sign = _QUOTE.match(lines[after].words)
        if sign is None and (not quoted_lines or _begins(lines, after)):
            break
        quoted_lines.append(lines[after].without(sign.end() if sign else 0))
        after += 1
    return (Quotation(_blocks(text, quoted_lines, depth + 1)), after) if quoted_lines else None


def _read_table(text: str, lines: _Lines, at: int, _depth: int) -> tuple[Block, int] | None:
    has_header = _has_header(lines, at)
    if not has_header and not _ROW.match(lines[at].words):
        return None
    first = after = at + 2 if has_header else at
    while after < len(lines) and ("|" in lines[after].words if has_header else _ROW.match(lines[after].words)):
        after += 1
    header = [_inline(text, *cell) for cell in _cells(lines[at])] if has_header else []
    rows = [[_inline(text, *cell) for cell in _cells(line)] for line in lines[first:after]]
    sides = [_side(text[slice(*cell)]) for cell in _cells(lines[at + 1])] if has_header else []
    return Table(header if any(header) else None, rows, sides), after


def _side(dashes: str) -> Side:
    if not dashes.endswith(":"):
        return "left"
    return "middle" if dashes.startswith(":") else "right"


def _cells(line: _Line) -> list[Span]:
    """The cells of a row without the blanks around them; a bar behind a backslash is in its cell."""
    cells: list[Span] = []
    at = line.indent + line.words.lstrip().startswith("|")
    last = len(line.words.rstrip())
    for bar in _BAR.finditer(line.words):
        if bar.start() < at or (not bar[0] and at >= last):
            continue
        cell = line.words[at : bar.start()]
        start = line.start + at + len(cell) - len(cell.lstrip())
        cells.append((start, start + len(cell.strip())))
        at = bar.start() + 1
    return cells


def _read_list(text: str, lines: _Lines, at: int, depth: int) -> tuple[Block, int] | None:
    first = _ITEM.match(lines[at].words)
    is_ordered = first is not None and first[2] is not None
    items: list[list[Block]] = []
    numbers: list[int] = []
    after = at
    while at < len(lines):
        sign = _ITEM.match(lines[at].words)
        if sign is None or (sign[2] is not None) != is_ordered or _RULE.match(lines[at].words):
            break
        number = int(sign[2] or 0)
        if is_ordered and items and number <= numbers[-1]:
            if at > after:  # after a gap: another list
                break
            number = numbers[-1] + 1
        item_lines, after = _item(lines, at, sign)
        items.append(_blocks(text, item_lines, depth + 1))
        numbers += [number] * is_ordered
        at = _skip_blank(lines, after)
    return (ListBlock(items, numbers), after) if items else None


def _item(lines: _Lines, at: int, sign: re.Match[str]) -> tuple[list[_Line], int]:
    """The lines of an item without its sign: indented ones, and those that go on with its words."""
    item_lines = [lines[at].without(sign.end())]
    after = at + 1
    while after < len(lines):
        filled = _skip_blank(lines, after)
        is_inside = filled < len(lines) and lines[filled].indent >= len(sign[1]) + 2
        if not is_inside and (filled > after or _begins(lines, after)):
            break
        item_lines += lines[after:filled]
        item_lines.append(lines[filled].without(min(lines[filled].indent, sign.end())))
        after = filled + 1
    return item_lines, after


_READERS: tuple[_Reader, ...] = (_read_code, _read_heading, _read_rule, _read_table, _read_quotation, _read_list)
