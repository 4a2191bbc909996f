"""Markdown in a terminal: paragraphs, lists, tables and code as rich renders them, with the lead in bold.

rich takes up to .3 ms for a part, so that a hostile text of 60 KB, `- a` in 15,000 lines, would take seconds. A text of
more than `MOST_PARTS` is shown unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule as Line
from rich.style import Style
from rich.table import Table as Grid
from rich.text import Text

from qa_core.text.markdown.blocks import (
    Block,
    Cell,
    Code,
    ListBlock,
    Paragraph,
    Quotation,
    Rule,
    Side,
    Table,
    blocks,
)
from qa_core.text.markdown.inline import Words
from qa_core.text.safe_text import clean
from qa_core.types import Span

STYLES = {
    "strong": Style(bold=True),
    "em": Style(italic=True),
    "del": Style(strike=True),
    "code": Style(color="cyan"),
}
JUSTIFY = {"left": "left", "middle": "center", "right": "right"}
LEAD = Style(bold=True)
MOST_PARTS = 2_000
"""Blocks, items, cells and lines of code."""


def markdown(text: str, lead: Span | None = None, starts: Sequence[int] = ()) -> RenderableType:
    """A Markdown text for rich's console.

    Args:
        lead: the stretch of `text` in bold.
        starts: where passages begin; none goes on in the list or the code of the one before it.
    """
    bounds = sorted({0, *(start for start in starts if text[:start].endswith("\n\n")), len(text)})
    outermost = [block for part in pairwise(bounds) for block in blocks(text, part)]
    if sum(map(_count, outermost)) > MOST_PARTS:
        return _line(text, [Words(0, len(text))], lead)
    return Group(*_spaced([_block(text, block, lead) for block in outermost]))


def _count(block: Block) -> int:
    """The parts of a block, itself included."""
    match block:
        case Code(lines):
            return 1 + len(lines)
        case Table(header, rows):
            return 1 + sum(map(len, [header or [], *rows]))
        case ListBlock(items):
            return 1 + sum(1 + sum(map(_count, item)) for item in items)
        case Quotation(inner):
            return 1 + sum(map(_count, inner))
        case Paragraph() | Rule():
            return 1


def _spaced(parts: Sequence[RenderableType]) -> Iterator[RenderableType]:
    """Parts with an empty line between them."""
    for number, part in enumerate(parts):
        if number:
            yield Text("")
        yield part


def _block(text: str, block: Block, lead: Span | None) -> RenderableType:
    match block:
        case Paragraph(words, is_heading):
            line = _line(text, words, lead)
            if is_heading:
                line.stylize(Style(bold=True, underline=True))
            return line
        case Code(lines):
            code = [Words(start, end, frozenset({"code"})) for start, end in lines]
            return Padding(Text("\n").join(_line(text, [line], lead) for line in code), (0, 0, 0, 4))
        case Table():
            return _table(text, block, lead)
        case ListBlock():
            return _list(text, block, lead)
        case Quotation(parts):
            return Padding(Group(*_spaced([_block(text, part, lead) for part in parts])), (0, 0, 0, 2), style="dim")
        case Rule():
            return Line(style="dim")


def _list(text: str, block: ListBlock, lead: Span | None) -> RenderableType:
    signs = [f"{number}." for number in block.numbers] or ["•"] * len(block.items)
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for sign, item in zip(signs, block.items, strict=True):
        grid.add_row(Text(f" {sign}", style="dim"), Group(*(_block(text, part, lead) for part in item)))
    return grid


def _table(text: str, table: Table, lead: Span | None) -> RenderableType:
    width = max(map(len, [table.header or [], *table.rows]))
    grid = Grid(box=box.SIMPLE_HEAD, show_header=table.header is not None, padding=(0, 1), pad_edge=False)
    for number in range(width):
        name = _line(text, _cell(table.header or [], number), lead)
        side: Side = table.sides[number] if number < len(table.sides) else "left"
        grid.add_column(name, justify=JUSTIFY[side], overflow="fold")  # type: ignore[arg-type]
    for row in table.rows:
        grid.add_row(*(_line(text, _cell(row, number), lead) for number in range(width)))
    return grid


def _cell(row: Sequence[Cell], number: int) -> Cell:
    return row[number] if number < len(row) else []


def _line(text: str, words: Sequence[Words], lead: Span | None) -> Text:
    """Words with their styles; the address of a link follows its label unless it is the label."""
    line = Text()
    for number, part in enumerate(words):
        style = Style.combine([Style.null(), *(STYLES[name] for name in sorted(part.styles))])
        target = clean(part.target)
        if target:
            style += Style(underline=True, link=target)
        for start, end in _cut(part, lead):
            shown = text[start:end] if part.shown is None else part.shown
            is_lead = lead is not None and lead[0] <= start < lead[1]
            line.append(clean(shown), style + LEAD if is_lead else style)
        is_last = number + 1 == len(words) or words[number + 1].target != part.target
        if target and is_last and target.removeprefix("mailto:") != clean(text[part.start : part.end]):
            line.append(f" ({target})", Style(dim=True))
    return line


def _cut(words: Words, lead: Span | None) -> Iterator[Span]:
    """The stretches of words that are wholly inside or outside the lead."""
    cuts = () if lead is None or words.shown is not None else lead
    bounds = [words.start, *(cut for cut in cuts if words.start < cut < words.end), words.end]
    yield from pairwise(bounds)
