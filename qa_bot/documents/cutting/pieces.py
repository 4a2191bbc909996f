"""Pieces of blocks: the parts of a document that are never cut, and the parts of them that are searched.

A block within the limit is one piece. A longer one is cut: a paragraph at sentences, a list between items, a table
between rows, code at empty lines. A piece that may begin a passage in the middle of its block carries what a reader
needs above it: the table's header, the fence of the code, the line of the item that it is nested in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qa_bot.documents.cutting.blocks import Block
from qa_bot.documents.cutting.sentence_groups import grouped, sentence_spans, stripped, word_pieces
from qa_core.types import BlockKind, Span

WHOLE_ITEM = 300
"""Characters; a longer item is searched by its sentences and nested items."""
PARENT_LINE = 200
"""Characters; of a longer parent item only the sign is repeated."""
CODE, ROW = 2, 4
"""Code up to 2 limits and a row up to 4 limits stay whole."""
HEADER = 2
"""Limits; a longer header of a table is not repeated."""
LONGEST_CAPTION = 200
"""Characters of the caption above a table."""
IN_BLOCK, IN_TEXT = 0.25, 0.5
"""Costs of a passage that begins between items, rows or parts of code, and between sentences."""

_LEADS_TO = {"list", "steps", "table", "code"}
_KINDS: dict[str, BlockKind] = {"list": "list", "steps": "steps", "table": "table", "code": "code"}
_SIGN = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=\s)")
_TERM = re.compile(r"\s*\*\*[^*\n]+\*\*:?")
_CAPTION = re.compile(
    r"\*\*[^*\n]+\*\*:?|__[^_\n]+__:?|[*_]{0,3}(?:table|tabelle|tableau|tab\.)\s{1,3}(?:[A-Z][.-]?)?\d[^\n]*",
    re.IGNORECASE,
)
"""A line in bold type alone, or one that begins with "Table 3"."""
_GROUP = re.compile(r"\|[ \t]*[^|\s][^|\n]*\|(?:[ \t]*\|)+[ \t]*")
"""A row whose first cell alone is filled: it names the rows below it."""
_FENCE = re.compile(r"`{3,}|~{3,}")
_EMPTY_LINES = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """`units` are spans of the document's text; `prefix` and `suffix` are added if a passage begins or ends here."""

    start: int
    end: int
    kind: BlockKind
    units: tuple[Span, ...]
    cost: float = 0.0  # of a passage that begins here
    prefix: str = ""
    suffix: str = ""


class PieceCutter:
    """Cuts the blocks of one text into pieces of about `limit` characters at most."""

    def __init__(self, text: str, limit: int, language: str = "") -> None:
        self._text, self._limit, self._language = text, limit, language

    def section(self, blocks: Sequence[Block]) -> Iterator[Piece]:
        """The pieces of a section.

        A paragraph that ends with ":" is joined to the list, table, code or short paragraph after it, and a caption to
        its table. If both are longer than the limit, only the paragraph's last sentence is joined, or a caption as a
        whole. What a paragraph was joined to is joined to nothing else.
        """
        return (piece for _, piece in self._joined_pieces(blocks, "prose"))

    def _joined_pieces(self, blocks: Sequence[Block], kind: BlockKind) -> Iterator[tuple[Block, Piece]]:
        """The pieces of neighbouring blocks, with the block that each begins in."""
        lead: tuple[Block, Piece] | None = None
        for block, following in pairwise([*blocks, None]):
            assert block is not None
            parts = self.pieces(block, kind)
            if lead is not None:
                yield lead[0], _joined(lead[1], next(parts))
                lead, following = None, None
            is_caption = following is not None and self._is_caption(block, following)
            if following is not None and (is_caption or self._is_lead(block, following)):
                whole = is_caption or following.end - block.start <= self._limit
                *before, last = parts if whole else self._sentences(block, kind, last_alone=True)
                yield from ((block, piece) for piece in before)
                lead = block, last
                if not whole and last.end - last.start > self._limit // 2:
                    yield lead
                    lead = None
            else:
                yield from ((block, piece) for piece in parts)

    def pieces(self, block: Block, kind: BlockKind = "prose") -> Iterator[Piece]:
        """The pieces of one block; `kind` is that of the list around it."""
        size = block.end - block.start
        kind = _KINDS.get(block.type, kind)
        if size <= self._limit or (block.type == "code" and size <= CODE * self._limit):
            yield Piece(block.start, block.end, kind, tuple(self.units(block)))
        elif block.type == "code":
            yield from self._code(block)
        elif block.type == "table":
            yield from self._rows(block)
        elif block.parts:
            yield from (self._item if block.type == "item" else self._items)(block, kind)
        else:
            yield from self._sentences(block, kind)

    def units(self, block: Block) -> Iterator[Span]:
        """The parts of a block that are searched one by one: sentences, items, rows."""
        if block.type == "table":
            yield from _lines(self._text, block)[2:] or [(block.start, block.end)]
        elif block.type in {"list", "steps"}:
            for item in block.parts:
                yield from self.units(item)
        elif block.type == "item" and block.end - block.start > WHOLE_ITEM and block.parts:
            start = block.start
            for part in block.parts:
                for first, last in self.units(part):
                    yield min(start, first), last
                    start = block.end  # only the first unit begins with the sign of the item
        elif block.type in {"paragraph", "quote"}:
            yield from grouped(self._sentence_spans(block))
        else:
            yield block.start, block.end

    def _is_lead(self, block: Block, following: Block) -> bool:
        if block.type != "paragraph" or not self._ends_with_colon(block):
            return False
        return following.type in _LEADS_TO or (following.type == "paragraph" and self._is_led_to(following))

    def _is_led_to(self, paragraph: Block) -> bool:
        """Whether a paragraph stays with the one before: it is short, no caption, and leads to nothing itself."""
        is_short = paragraph.end - paragraph.start <= self._limit // 2
        is_caption = _CAPTION.fullmatch(self._text, paragraph.start, paragraph.end) is not None
        return is_short and not is_caption and not self._ends_with_colon(paragraph)

    def _ends_with_colon(self, block: Block) -> bool:
        return self._text[block.start : block.end].rstrip("*_ ").endswith((":", "："))

    def _is_caption(self, block: Block, following: Block) -> bool:
        size = block.end - block.start
        if block.type != "paragraph" or following.type != "table" or size > min(LONGEST_CAPTION, self._limit // 2):
            return False
        return _CAPTION.fullmatch(self._text, block.start, block.end) is not None

    def _sentence_spans(self, block: Block) -> list[Span]:
        """The sentences; the term that a paragraph begins with is not cut, though it may end as a sentence does."""
        term = _TERM.match(self._text, block.start, block.end)
        spans = sentence_spans(self._text, block.start, block.end, self._language)
        while term is not None and len(spans) > 1 and spans[0][1] < term.end():
            spans[:2] = [(spans[0][0], spans[1][1])]
        return spans or [(block.start, block.end)]

    def _sentences(self, block: Block, kind: BlockKind, *, last_alone: bool = False) -> Iterator[Piece]:
        """A piece for each group of sentences; a longer one is cut between words."""
        cost = 0.0
        spans = self._sentence_spans(block)
        groups = [*grouped(spans[:-1], self._limit), spans[-1]] if last_alone else grouped(spans, self._limit)
        for start, end in groups:
            for first, last in word_pieces(self._text, start, end, self._limit):
                yield Piece(first, last, kind, ((first, last),), cost)
                cost = IN_TEXT

    def _items(self, block: Block, kind: BlockKind) -> Iterator[Piece]:
        """The items of a list, or what they are cut into."""
        cost = 0.0
        for item in block.parts:
            indent = _indent(self._text, item.start)
            for piece in self.pieces(item, kind):
                at_sign = piece.start == item.start
                yield replace(piece, cost=cost, prefix=indent + piece.prefix) if at_sign else piece
                cost = IN_BLOCK

    def _item(self, item: Block, kind: BlockKind) -> Iterator[Piece]:
        """What an item is cut into. What is nested in it begins with the item's first line, if it begins a passage."""
        line = self._parent_line(item)
        start, cost = item.start, 0.0
        for part, piece in self._joined_pieces(item.parts, kind):
            is_first = part is item.parts[0] and part.type == "paragraph"
            indent = "" if is_first or part.type in {"list", "steps"} else _indent(self._text, part.start)
            first, last = piece.units[0]
            yield replace(
                piece,
                start=min(start, piece.start),
                units=((min(start, first), last), *piece.units[1:]),
                cost=max(cost, piece.cost),
                prefix="" if is_first or start == item.start else f"{line}\n{indent}{piece.prefix}",
            )
            start, cost = item.end, IN_BLOCK

    def _parent_line(self, item: Block) -> str:
        """The first line of an item; of a longer one the term that it explains, or its sign alone."""
        line_end = self._text.find("\n", item.start, item.end)
        line = self._text[item.start : line_end if line_end > 0 else item.end]
        sign = _SIGN.match(line)
        if len(line) <= PARENT_LINE or not sign:
            return line
        term = _TERM.match(line, sign.end())
        return f"{line[: term.end()]} …" if term and term.end() <= PARENT_LINE else f"{sign[0]} …"

    def _rows(self, block: Block) -> Iterator[Piece]:
        """The rows of a table, the first with the header; longer rows are cut between words.

        Above a row that begins a passage the header is repeated, and the row that names its group.
        """
        head, dashes, *rows = _lines(self._text, block)
        header = self._text[head[0] : dashes[1]] + "\n"
        is_repeated = len(header) <= HEADER * self._limit
        if not rows:
            yield from self._sentences(block, "table")
        start, cost, group = block.start, 0.0, ""
        for row_start, row_end in rows:
            size = row_end - row_start
            names_group = size <= self._limit // 2 and _GROUP.fullmatch(self._text, row_start, row_end) is not None
            above = header + ("" if names_group else group) if is_repeated else ""
            longest = self._limit if size > ROW * self._limit else size
            for first, last in word_pieces(self._text, row_start, row_end, longest):
                prefix = above if start == block.end else ""
                yield Piece(min(start, first), last, "table", ((first, last),), cost, prefix)
                start, cost = block.end, IN_BLOCK
            group = f"{self._text[row_start:row_end]}\n" if names_group else group

    def _code(self, block: Block) -> Iterator[Piece]:
        """Code cut at empty lines, at line ends if those are too far apart, and long lines between words."""
        text = self._text
        fence = _FENCE.match(text, block.start, block.end)
        opening = text[block.start : text.find("\n", block.start) + 1] if fence else ""
        closing = f"\n{_indent(text, block.start)}{fence[0]}" if fence else ""
        for start, end in self._code_spans(block):
            first, last = start == block.start, end == block.end
            prefix, suffix = "" if first else opening, "" if last else closing
            yield Piece(start, end, "code", ((start, end),), 0.0 if first else IN_BLOCK, prefix, suffix)

    def _code_spans(self, block: Block) -> Iterator[Span]:
        for start, end in _between(self._text, block, _EMPTY_LINES):
            if end - start <= self._limit:
                yield start, end
            else:
                yield from _line_groups(self._text, start, end, self._limit)


def _joined(lead: Piece, following: Piece) -> Piece:
    return replace(following, start=lead.start, units=lead.units + following.units, cost=lead.cost, prefix=lead.prefix)


def _between(text: str, block: Block, divider: re.Pattern[str]) -> Iterator[Span]:
    start = block.start
    for match in divider.finditer(text, block.start, block.end):
        yield start, match.start()
        start = text.rfind("\n", 0, match.end()) + 1  # keeps the indentation
    yield start, block.end


def _line_groups(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Stretches of whole lines within the limit; a longer line is cut between words."""
    group = start
    line = start
    while line < end:
        line_end = text.find("\n", line, end)
        line_end = end if line_end < 0 else line_end
        if line_end - group > limit and group < line:
            yield group, line - 1
            group = line
        if line_end - group > limit:
            yield from word_pieces(text, group, line_end, limit)
            group = line_end + 1
        line = line_end + 1
    if group < end:
        yield group, end


def _lines(text: str, block: Block) -> list[Span]:
    """The lines of a table, without indentation."""
    spans, start = [], block.start
    while start < block.end:
        end = text.find("\n", start, block.end)
        end = block.end if end < 0 else end
        spans.append(stripped(text, start, end))
        start = end + 1
    return spans


def _indent(text: str, start: int) -> str:
    """The white space before `start` in its line; "" if something else is there."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before if before.isspace() else ""
