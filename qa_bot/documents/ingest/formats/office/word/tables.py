"""Tables of Word documents as rows of cells: merged cells, header rows, tables that are only a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.names import child, value, whole_number
from qa_bot.documents.ingest.formats.office.word.styles import is_on
from qa_bot.documents.ingest.table_shape import header_rows, joined_names

WIDEST_SPAN = 64  # columns; Word allows 63
WRAPPERS = {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo"}


class Table(NamedTuple):
    """Cells by rows; `captions` are rows of one cell above the table."""

    captions: list[str]
    cells: list[list[str]]
    has_header: bool


class _Cell(NamedTuple):
    text: str
    span: int
    continues: bool  # the cell above, merged with this one


def join_blocks(texts: Sequence[str]) -> str:
    """The paragraphs of a cell in one line, divided by semicolons where a sentence does not end."""
    joined = ""
    for text in filter(None, (" ".join(text.split()) for text in texts)):
        joined += text if not joined else f" {text}" if joined[-1] in ".!?;:," else f"; {text}"
    return joined


def cells_of(row: Element) -> Iterator[Element]:
    """The cells of a row, also those in controls."""
    for inner in row:
        if inner.tag == "w:tc":
            yield inner
        elif inner.tag in WRAPPERS:
            yield from cells_of(inner)


def read_table(table: Element, text_of: Callable[[Element], str]) -> Table | None:
    """The rows of a table, or None if it is a layout of text: one row, one column, or headings inside."""
    elements = [row for row in rows_of(table) if not _is_deleted(row)]
    shapes = [[_shape(cell) for cell in cells_of(row)] for row in elements]
    width = max((sum(span for span, _ in shape) for shape in shapes), default=0)
    if len(elements) < 2 or width < 2 or max(map(len, shapes)) < 2:
        return None
    rows = [
        [_Cell(text_of(cell), span, continues) for cell, (span, continues) in zip(cells_of(row), shape, strict=True)]
        for row, shape in zip(elements, shapes, strict=True)
    ]
    captions = []
    while rows and len(rows[0]) == 1:
        captions.append(rows.pop(0)[0].text)
        elements.pop(0)
    before = [_columns_before(row) for row in elements]
    headers = _header_rows(elements) or header_rows(_grid(rows, before, 1))
    grid = _grid(rows, before, max(1, headers))
    if 1 < headers < len(grid):
        grid = [[joined_names(column) for column in zip(*grid[:headers], strict=True)], *grid[headers:]]
    return Table(captions, grid, has_header=headers > 0)


def rows_of(table: Element) -> Iterator[Element]:
    """The rows of a table, also those in controls, without those of nested tables."""
    for inner in table:
        if inner.tag == "w:tr":
            yield inner
        elif inner.tag in WRAPPERS:
            yield from rows_of(inner)


def _is_deleted(row: Element) -> bool:
    return child(row, "w:trPr", "w:del") is not None


def _shape(cell: Element) -> tuple[int, bool]:
    properties = child(cell, "w:tcPr")
    span = whole_number(value(properties, "w:gridSpan"), 1)
    merge = child(properties, "w:vMerge")
    return min(max(1, span), WIDEST_SPAN), merge is not None and merge.get("w:val", "continue") == "continue"


def _columns_before(row: Element) -> int:
    return min(max(0, whole_number(value(row, "w:trPr", "w:gridBefore"))), WIDEST_SPAN)


def _header_rows(rows: Sequence[Element]) -> int:
    count = 0
    for row in rows:
        if not is_on(child(row, "w:trPr"), "w:tblHeader"):
            break
        count += 1
    return count


def _grid(rows: Sequence[Sequence[_Cell]], before: Sequence[int], headers: int) -> list[list[str]]:
    """Cells by column: what is merged downwards is repeated, what is merged sideways only in header rows."""
    grid: list[list[str]] = []
    for number, (row, gap) in enumerate(zip(rows, before, strict=True)):
        cells = [""] * gap
        for cell in row:
            column = len(cells)
            above = grid[-1][column] if cell.continues and grid and column < len(grid[-1]) else ""
            text = cell.text or above
            cells += [text, *[text if number < headers else ""] * (cell.span - 1)]
        grid.append(cells)
    width = max(map(len, grid), default=0)
    return [cells + [""] * (width - len(cells)) for cells in grid]
