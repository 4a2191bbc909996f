"""Tables of DocBook as HTML: those of CALS (rows and entries), and those of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.markup.docbook.elements import attribute, children, local

GROUPS = {"thead": "thead", "tbody": "tbody", "tfoot": "tbody"}
MOST_DIGITS = 4


def rows(element: Element, content: Callable[[Element], str], *, is_inner: bool = False) -> str:
    """The rows of a table.

    Args:
        element: a table, an informal table or a table in a cell.
        content: from a cell to its HTML.
        is_inner: whether it is a table in a cell, in which no further one is.
    """
    tables = list(children(element, "tgroup")) or [element]
    cells = content if is_inner else lambda cell: _cell(cell, content)
    return "".join(f"<table>{''.join(_rows(table, cells))}</table>" for table in tables)


def _cell(cell: Element, content: Callable[[Element], str]) -> str:
    return rows(cell, content, is_inner=True) if local(cell) == "entrytbl" else content(cell)


def _rows(table: Element, content: Callable[[Element], str]) -> Iterator[str]:
    columns = _columns(table)
    for part in table:
        name = local(part)
        if name in GROUPS:
            rows = "".join(_row(row, columns, content, name) for row in children(part, "row", "tr"))
            yield f"<{GROUPS[name]}>{rows}</{GROUPS[name]}>"
        elif name in {"row", "tr"}:
            yield _row(part, columns, content, "tbody")


def _row(row: Element, columns: dict[str, tuple[int, int]], content: Callable[[Element], str], group: str) -> str:
    cells: list[str] = []
    for cell in children(row, "entry", "entrytbl", "td", "th"):
        tag = "th" if local(cell) == "th" or group == "thead" else "td"
        cells.append(f"<{tag}{_spans(cell, columns)}>{content(cell)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _columns(table: Element) -> dict[str, tuple[int, int]]:
    """The first and the last number of the columns with a name, and of named spans."""
    columns: dict[str, tuple[int, int]] = {}
    number = 0
    for column in children(table, "colspec"):
        number = _number(attribute(column, "colnum")) or number + 1
        columns.setdefault(attribute(column, "colname"), (number, number))
    for span in children(table, "spanspec"):
        first, last = (columns.get(attribute(span, name)) for name in ("namest", "nameend"))
        if first and last:
            columns.setdefault(attribute(span, "spanname"), (first[0], last[1]))
    return columns


def _spans(cell: Element, columns: dict[str, tuple[int, int]]) -> str:
    """The attributes of a cell that covers several rows or columns."""
    first, last = (columns.get(attribute(cell, name) or "-", (0, 0)) for name in ("namest", "nameend"))
    named = columns.get(attribute(cell, "spanname") or "-", (first[0], last[1]))
    wide = named[1] - named[0] + 1 if 0 < named[0] < named[1] else _number(attribute(cell, "colspan")) or 1
    more = attribute(cell, "morerows")
    deep = _number(more) + 1 if more else _number(attribute(cell, "rowspan")) or 1
    return "".join(f' {name}="{size}"' for name, size in (("colspan", wide), ("rowspan", deep)) if size > 1)


def _number(text: str) -> int:
    """A small number; 0 for other texts."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else 0


def segments(element: Element, content: Callable[[Element], str]) -> str:
    """A segmented list, whose titles are the names of columns."""
    titles = "".join(f"<th>{content(title)}</th>" for title in children(element, "segtitle"))
    rows = (
        "".join(f"<td>{content(segment)}</td>" for segment in children(item, "seg"))
        for item in children(element, "seglistitem")
    )
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
