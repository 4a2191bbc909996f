"""Tables of Word documents as rows of cells: merged cells, header rows, tables that are only a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.merged_cells import Cell, Merged, Table, table_of
from qa_bot.documents.ingest.formats.office.names import child, value, whole_number
from qa_bot.documents.ingest.formats.office.word.styles import is_on

WIDEST_SPAN = 64  # columns; Word allows 63
WRAPPERS = {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo"}


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
    rows = []
    for element, shape in zip(elements, shapes, strict=True):
        row: list[Cell] = [""] * _columns_before(element)
        for cell, (span, continues) in zip(cells_of(element), shape, strict=True):
            text = text_of(cell)
            row += [Merged.ABOVE if continues and not text else text, *[Merged.LEFT] * (span - 1)]
        rows.append(row)
    return table_of(rows, [bool(is_on(child(row, "w:trPr"), "w:tblHeader")) for row in elements])


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
