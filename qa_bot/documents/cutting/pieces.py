"""Pieces of blocks: the parts of a document that are never cut, and the parts of them that are searched.

A block within the limit is one piece. A longer one is cut: a paragraph at sentences, a list between items, a table
between rows, code at empty lines. A piece that may begin a passage in the middle of its block carries what a reader
needs above it: the table's header, the fence of the code, the line of the item that it is nested in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

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
IN_BLOCK, IN_TEXT = 0.25, 0.5
"""Costs of a passage that begins between items, rows or parts of code, and between sentences."""

_LEADS_TO = {"list", "steps", "table", "code"}
_KINDS: dict[str, BlockKind] = {"list": "list", "steps": "steps", "table": "table", "code": "code"}
_SIGN = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=\s)")
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


def section_pieces(text: str, section: Sequence[Block], limit: int) -> Iterator[Piece]:
    """The pieces of a section's blocks; a paragraph that ends with ":" is joined to the list, table or code after it.

    If both are longer than the limit, only the paragraph's last sentence is joined.
    """
    lead: Piece | None = None
    for index, block in enumerate(section):
        parts = pieces(text, block, limit)
        if lead is not None:
            parts = chain([_joined(lead, next(parts))], parts)
            lead = None
        following = section[index + 1] if index + 1 < len(section) else None
        if following is not None and following.type in _LEADS_TO and _is_lead(text, block):
            fits = following.end - block.start <= limit
            *before, lead = parts if fits else _sentences(text, block, "prose", limit, last_alone=True)
            yield from before
            if not fits and lead.end - lead.start > limit // 2:
                yield lead
                lead = None
        else:
            yield from parts


def pieces(text: str, block: Block, limit: int, kind: BlockKind = "prose") -> Iterator[Piece]:
    """The pieces of one block; `kind` is that of the list around it."""
    size = block.end - block.start
    kind = _KINDS.get(block.type, kind)
    if size <= limit or (block.type == "code" and size <= CODE * limit):
        yield Piece(block.start, block.end, kind, tuple(units(text, block)))
    elif block.type == "code":
        yield from _code(text, block, limit)
    elif block.type == "table":
        yield from _rows(text, block, limit)
    elif block.parts:
        yield from (_item if block.type == "item" else _items)(text, block, limit, kind)
    else:
        yield from _sentences(text, block, kind, limit)


def units(text: str, block: Block) -> Iterator[Span]:
    """The parts of a block that are searched one by one: sentences, items, rows."""
    if block.type == "table":
        rows = _lines(text, block)[2:]
        yield from rows or [(block.start, block.end)]
    elif block.type in {"list", "steps"}:
        for item in block.parts:
            yield from units(text, item)
    elif block.type == "item" and block.end - block.start > WHOLE_ITEM and block.parts:
        start = block.start
        for part in block.parts:
            for first, last in units(text, part):
                yield min(start, first), last
                start = block.end  # only the first unit begins with the sign of the item
    elif block.type in {"paragraph", "quote"}:
        yield from grouped(sentence_spans(text, block.start, block.end)) or [(block.start, block.end)]
    else:
        yield block.start, block.end


def _is_lead(text: str, block: Block) -> bool:
    return block.type == "paragraph" and text[block.start : block.end].rstrip("*_ ").endswith((":", "："))


def _joined(lead: Piece, following: Piece) -> Piece:
    return replace(following, start=lead.start, units=lead.units + following.units, cost=lead.cost, prefix=lead.prefix)


def _sentences(text: str, block: Block, kind: BlockKind, limit: int, *, last_alone: bool = False) -> Iterator[Piece]:
    """A piece for each group of sentences; a longer one is cut between words."""
    cost = 0.0
    spans = sentence_spans(text, block.start, block.end) or [(block.start, block.end)]
    groups = [*grouped(spans[:-1], limit), spans[-1]] if last_alone else grouped(spans, limit)
    for start, end in groups:
        for first, last in word_pieces(text, start, end, limit):
            yield Piece(first, last, kind, ((first, last),), cost)
            cost = IN_TEXT


def _items(text: str, block: Block, limit: int, kind: BlockKind) -> Iterator[Piece]:
    """The items of a list, or what they are cut into."""
    cost = 0.0
    for item in block.parts:
        indent = _indent(text, item.start)
        for piece in pieces(text, item, limit, kind):
            at_sign = piece.start == item.start
            yield replace(piece, cost=cost, prefix=indent + piece.prefix) if at_sign else piece
            cost = IN_BLOCK


def _item(text: str, item: Block, limit: int, kind: BlockKind) -> Iterator[Piece]:
    """What an item is cut into. What is nested in it begins with the item's first line, if it begins a passage."""
    line_end = text.find("\n", item.start, item.end)
    line = text[item.start : line_end if line_end > 0 else item.end]
    if len(line) > PARENT_LINE and (sign := _SIGN.match(line)):
        line = f"{sign[0]} …"
    start, cost = item.start, 0.0
    for part in item.parts:
        is_first = part is item.parts[0] and part.type == "paragraph"
        indent = "" if is_first or part.type in {"list", "steps"} else _indent(text, part.start)
        for piece in pieces(text, part, limit, kind):
            first, last = piece.units[0]
            opening = min(start, first)
            piece_units = ((opening, last), *piece.units[1:])
            prefix = "" if is_first or start == item.start else f"{line}\n{indent}{piece.prefix}"
            yield replace(
                piece, start=min(start, piece.start), units=piece_units, cost=max(cost, piece.cost), prefix=prefix
            )
            start, cost = item.end, IN_BLOCK


def _rows(text: str, block: Block, limit: int) -> Iterator[Piece]:
    """The rows of a table, the first with the header; longer rows are cut between words."""
    head, dashes, *rows = _lines(text, block)
    header = text[head[0] : dashes[1]] + "\n"
    if not rows:
        yield from _sentences(text, block, "table", limit)
        return
    start, prefix, cost = block.start, "", 0.0
    for row_start, row_end in rows:
        longest = limit if row_end - row_start > ROW * limit else row_end - row_start
        for first, last in word_pieces(text, row_start, row_end, longest):
            yield Piece(min(start, first), last, "table", ((first, last),), cost, prefix)
            start, cost = block.end, IN_BLOCK
            prefix = header if len(header) <= HEADER * limit else ""


def _code(text: str, block: Block, limit: int) -> Iterator[Piece]:
    """Code cut at empty lines, at line ends if those are too far apart, and long lines between words."""
    fence = _FENCE.match(text, block.start, block.end)
    spans = list(_code_spans(text, block, limit))
    opening = text[block.start : text.find("\n", block.start) + 1] if fence else ""
    closing = f"\n{_indent(text, block.start)}{fence[0]}" if fence else ""
    for start, end in spans:
        first, last = start == block.start, end == block.end
        prefix, suffix = "" if first else opening, "" if last else closing
        yield Piece(start, end, "code", ((start, end),), 0.0 if first else IN_BLOCK, prefix, suffix)


def _code_spans(text: str, block: Block, limit: int) -> Iterator[Span]:
    for start, end in _between(text, block, _EMPTY_LINES):
        if end - start <= limit:
            yield start, end
        else:
            yield from _line_groups(text, start, end, limit)


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
