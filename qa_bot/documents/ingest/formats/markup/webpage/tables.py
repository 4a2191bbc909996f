"""The cells of an HTML table as rows of text, spans filled; layout tables are recognised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.table_shape import is_header, is_value

WIDEST = 200  # columns; more cells are joined into the last
LONG_CELL = 300  # characters; a row without header cells and with such a cell is layout
LINE_NUMBERS = {"linenos", "lineno", "gutter", "blob-num", "line-numbers"}
NUMBERS_IN_CODE = "span.linenos, span.lineno, span.lnt, span.ln"
"""Numbers that Pygments and Chroma, the highlighters of Sphinx and Hugo, write into the lines or beside them."""
HEADER_CLASS = re.compile(r"class=(?:[^=]*[\s_-])?(?:t?head|[a-z]+Head)(?:er|ing|ings|ers|Row|Cell)?(?![a-z])")
COLOUR = re.compile(r"bgcolor=|style=(?:[^=]*[;\s])?background(?:-color)?:", re.IGNORECASE)
"""What a row or its cells have if only their style makes them the header."""
ROLE_TABLES = "[role=table], [role=grid], [role=treegrid]"
_CELLS = [f"[role={name}]" for name in ("cell", "gridcell", "columnheader", "rowheader")]
ROLE_CELLS = ", ".join(_CELLS)
NESTED_ROLES = ", ".join(f"{part} {part}" for part in ["[role=row]", *_CELLS])
"""Copying them would take quadratic time."""


def write_role_tables(root: LexborNode) -> None:
    """Replace each element that only has the role of a table (ARIA) by one, if it has no others in its rows."""
    for node in reversed(root.css(ROLE_TABLES)):  # inner ones first
        rows = node.css("[role=row]")
        if node.tag == "table" or not rows or node.css_first(NESTED_ROLES) is not None:
            continue
        lines = ("".join(map(_role_cell, row.css(ROLE_CELLS))) for row in rows)
        body = LexborHTMLParser(f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>").body
        if body is not None and body.child is not None:
            node.insert_before(body.child)
            node.decompose()


def _role_cell(cell: LexborNode) -> str:
    tag = "th" if (cell.attributes.get("role") or "").endswith("header") else "td"
    return f"<{tag}>{cell.html or ''}</{tag}>"


@dataclass(slots=True)
class Grid:
    """Rows of text; the first is the header if `header`."""

    rows: list[list[str]]
    header: bool


@dataclass(slots=True)
class Row:
    cells: list[LexborNode]
    in_head: bool

    @property
    def is_header(self) -> bool:
        """In a head, or of header cells alone; the first may be an empty corner, or any if the others head columns."""
        if self.in_head or not self.cells or not all(cell.tag == "th" for cell in self.cells[1:]):
            return self.in_head
        first, *rest = self.cells
        return first.tag == "th" or (bool(rest) and (_is_empty(first) or all(map(_heads_column, rest))))


def grid(table: LexborNode, text: Callable[[LexborNode], str]) -> Grid:
    """The rows of a data table.

    Args:
        text: the text of a cell on one line.
    """
    rows = [row for row in rows_of(table) if row.cells]
    heads = _header_rows(rows)
    lines = _without_empty_columns(filled(rows, text))
    if not heads and (heads := styled_headers(rows)):
        lines[:heads] = [[cell.strip("*") for cell in line] for line in lines[:heads]]
    header = [_joined(column) for column in zip(*lines[:heads], strict=True)] if heads else []
    body = [row for row in lines[heads:] if any(row)]
    if heads == 1 and len(body) > 1 and is_bold(rows[1]) and _names_columns(header, lines[1]):
        return Grid([_grouped(header, lines[1]), *body[1:]], header=True)
    return Grid([header, *body], header=True) if heads else Grid(body, header=_heads_values(body))


def is_layout(table: LexborNode) -> bool:
    """Whether the table only arranges a page: its cells are read one after another."""
    if (table.attributes.get("role") or "").lower() in {"presentation", "none"}:
        return True
    rows = list(rows_of(table))
    width = max((len(row.cells) for row in rows), default=0)
    has_header = any(cell.tag == "th" for row in rows for cell in row.cells)
    is_listing = width <= 1 and table.css_first("td pre") is not None  # code below the name of its file
    if has_header and not is_listing:
        return False
    inner = {node.mem_id for node in table.css("td table, td h1, td h2, td h3, td form")}
    is_nested = table.mem_id in inner  # it is in a cell of another table
    if width <= 1 or len(inner) > is_nested or (is_nested and not _is_regular(table, rows)):
        return True
    return len(rows) == 1 and any(len(cell.text()) > LONG_CELL for cell in rows[0].cells)


def _is_regular(table: LexborNode, rows: list[Row]) -> bool:
    """Whether a table in another one has lines around its cells, or at least three rows of the same short cells."""
    if has_lines(table):
        return True
    texts = [[cell.text().strip() for cell in row.cells] for row in rows]
    are_short = all(0 < len(text) <= LONG_CELL for row in texts for text in row)
    return len(rows) > 2 and are_short and len({*map(len, texts)}) == 1


def has_lines(table: LexborNode) -> bool:
    """Whether a table has lines around its cells."""
    return (table.attributes.get("border") or "0") != "0"


def cells(table: LexborNode) -> Iterator[LexborNode]:
    """The cells of a layout table, in order."""
    for row in rows_of(table):
        yield from row.cells


def rows_of(table: LexborNode) -> Iterator[Row]:
    for part in sorted(table.iter(), key=lambda part: part.tag == "tfoot"):  # it may be above the rows
        if part.tag == "tr":
            yield _row(part, in_head=False)
        elif part.tag in {"thead", "tbody", "tfoot"}:
            for row in part.iter():
                if row.tag == "tr":
                    yield _row(row, in_head=part.tag == "thead")


def _row(row: LexborNode, *, in_head: bool) -> Row:
    cells = [cell for cell in row.iter() if cell.tag in {"td", "th"} and not _is_line_numbers(cell)]
    return Row(cells, in_head)


def _is_line_numbers(cell: LexborNode) -> bool:
    if not LINE_NUMBERS.isdisjoint((cell.attributes.get("class") or "").split()):
        return True
    numbers = cell.css(NUMBERS_IN_CODE)
    return bool(numbers) and "".join(number.text() for number in numbers).split() == cell.text().split()


def remove_line_numbers(listing: LexborNode) -> None:
    """Remove the numbers of lines from a block of code."""
    for number in listing.css(NUMBERS_IN_CODE):
        if number.text().strip().isdigit():
            number.decompose()


def _is_empty(cell: LexborNode) -> bool:
    return not cell.text().strip() and cell.css_first("img, input") is None


def _heads_column(cell: LexborNode) -> bool:
    return (cell.attributes.get("scope") or "").lower() in {"col", "colgroup"}


def _header_rows(rows: list[Row]) -> int:
    count = 0
    while count < len(rows) and rows[count].is_header and not (count and _names_group(rows[count])):
        count += 1
    return count if count < len(rows) else min(1, count)


def _names_group(row: Row) -> bool:
    """Whether a row of the body has text in its first cell alone, and no cell from above: it names the rows below."""
    filled = [cell for cell in row.cells if cell.text().strip()]
    return not row.in_head and filled == row.cells[:1]


def styled_headers(rows: list[Row]) -> int:
    """How many rows at the top are the header only by their style: bold type, a class or a colour of the first row.

    A title may be above it, in a cell over all columns.
    """
    title = int(len(rows) > 2 and len(rows[0].cells) == 1 and span(rows[0].cells[0], "colspan") > 1)
    if len(rows) < title + 2:
        return 0
    row, *below = rows[title:]
    if is_bold(row):
        return title + 1
    texts = [text for cell in row.cells if (text := cell.text().strip())]
    if len(texts) < 2 or any(map(is_value, texts)):
        return 0
    marked = [pattern for pattern in (HEADER_CLASS, COLOUR) if _has_style(row, pattern)]
    return title + 1 if any(not any(_has_style(other, pattern) for other in below) for pattern in marked) else 0


def _has_style(row: Row, pattern: re.Pattern[str]) -> bool:
    """Whether a row, or each of its cells, has a class or style of this kind."""
    tag = row.cells[0].parent
    return (tag is not None and _states(tag, pattern)) or all(_states(cell, pattern) for cell in row.cells)


def _states(node: LexborNode, pattern: re.Pattern[str]) -> bool:
    return pattern.search(" ".join(f"{name}={value}" for name, value in node.attributes.items())) is not None


def _heads_values(rows: list[list[str]]) -> bool:
    """Whether the first of several rows without any style names their columns, one of which has only values."""
    columns = zip(*rows[1:], strict=False)
    has_values = any(all(not cell or is_value(cell) for cell in column) and any(column) for column in columns)
    return len(rows) > 2 and has_values and all(rows[0]) and is_header(rows)


def filled(rows: list[Row], text: Callable[[LexborNode], str]) -> list[list[str]]:
    """The texts of all cells, repeated over their spans."""
    result: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}  # column → text and number of rows that it still covers
    width = max((sum(span(cell, "colspan") for cell in row.cells) for row in rows), default=0)
    for row in rows:
        line: list[str] = []
        for cell in row.cells:
            _take_spanned(line, below)
            value, columns = text(cell), min(span(cell, "colspan"), WIDEST)
            is_whole_row = len(row.cells) == 1 and columns >= width > 1
            if len(line) >= WIDEST:
                line[-1] = f"{line[-1]} {value}"
                continue
            for offset in range(columns):
                shown = "" if is_whole_row and offset else value
                if (deep := span(cell, "rowspan")) > 1:
                    below[len(line)] = (shown, deep - 1)
                line.append(shown)
        _take_spanned(line, below)
        result.append(line)
    return result


def _take_spanned(line: list[str], below: dict[int, tuple[str, int]]) -> None:
    while (spanned := below.get(len(line))) is not None:
        value, count = spanned
        if count > 1:
            below[len(line)] = (value, count - 1)
        else:
            del below[len(line)]
        line.append(value)


def span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(1000, max(1, int(value))) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """The rows, equally long, without the columns that have no text."""
    width = max(map(len, rows), default=0)
    even = [row + [""] * (width - len(row)) for row in rows]
    columns = [column for column in range(width) if any(row[column] for row in even)]
    return even if len(columns) == width else [[row[column] for column in columns] for row in even]


def _joined(column: tuple[str, ...]) -> str:
    return " ".join(dict.fromkeys(cell for cell in column if cell))


def _names_columns(header: list[str], row: list[str]) -> bool:
    """Whether a row below a header names the columns of its groups, whose cells are empty after a group's name."""
    columns = list(zip(header, row, strict=False))[1:]
    is_group = any(name and below for name, below in columns)
    return not row[0] and is_group and any(below and not name for name, below in columns)


def _grouped(header: list[str], row: list[str]) -> list[str]:
    """A header with the names of groups before those of their columns: "Rent: members"."""
    names, group = [], ""
    for name, below in zip_longest(header, (cell.strip("*") for cell in row), fillvalue=""):
        group = name or (group if below else "")
        names.append(f"{group.rstrip(':')}: {below}" if group and below else group or below)
    return names


def is_bold(row: Row) -> bool:
    texts = [
        (cell.text().strip(), "".join(node.text() for node in cell.css("b, strong")).strip()) for cell in row.cells
    ]
    return len(texts) > 1 and all(text == bold for text, bold in texts) and any(text for text, _ in texts)
