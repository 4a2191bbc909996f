"""Reads workbooks of Excel (XLSX, XLSM): values as shown, merged cells filled, hidden sheets too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.office.names import child, value, whole_number
from qa_bot.documents.ingest.formats.office.package import Link, Package, read_package, web_link
from qa_bot.documents.ingest.formats.office.properties import core_properties
from qa_bot.documents.ingest.formats.office.symbol_fonts import symbols
from qa_bot.documents.ingest.formats.run_marks import marked, resolved
from qa_bot.documents.ingest.formats.sheets.drawings import drawing_texts
from qa_bot.documents.ingest.formats.sheets.number_formats import BUILT_IN, Format, parse_format, shown
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Comment, Merge, Sheet
from qa_bot.documents.ingest.formats.sheets.workbook import workbook_items
from qa_bot.documents.ingest.records import Item, Notice

REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
LINK_FORMULA = re.compile(r'\s*=?\s*HYPERLINK\(\s*"([^"]+)"\s*(?:,\s*"((?:[^"]|"")+)"\s*)?\)\s*', re.IGNORECASE)
"""A link whose parts are stated: it needs no calculation."""
MOST_COLUMNS = 16_384  # of a sheet
DIGITS = "0123456789"
ROW_PARTS = ("cols", "sheetData", "autoFilter", "mergeCells", "hyperlinks")
MOST_HIDDEN = 200
"""Ranges of hidden columns of a sheet."""
PLAIN = Format()


@dataclass(frozen=True)
class _Book:
    strings: Sequence[str]
    formats: Sequence[Format]
    is_1904: bool


@dataclass
class _SheetParts:
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merges: list[Merge] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[range] = field(default_factory=list)
    is_filtered: bool = False
    size: int = 0
    uncounted: int = 0  # formulas without a stored value


def read(file: SourceFile) -> Iterator[Item]:
    """One record for the tables of a workbook, with its path as its id, and one for each question of an FAQ sheet."""
    yield from read_package(file, lambda package: _read(file, package))


def _read(file: SourceFile, package: Package) -> Iterator[Item]:
    part = package.main_part("xl/workbook.xml")
    links = package.links(part)
    root = package.tree(part)
    date_1904 = value(root, "x:workbookPr", attribute="date1904")
    book = _Book(_strings(package, links), _formats(package, links), date_1904 in {"1", "true"})
    listed = child(root, "x:sheets")
    sheets, uncounted = [], 0
    left = file.limits.record_bytes
    for element in listed if listed is not None else ():
        link = links.get(element.get("r:id", ""))
        if link is None or link.kind != "worksheet":  # a sheet with only a chart
            continue
        parts = _sheet(package, link.target, book, left)
        left -= parts.size
        uncounted += parts.uncounted
        comments, texts = _comments(package, link.target), drawing_texts(package, link.target)
        is_hidden = element.get("state", "visible") != "visible"
        sheet = Sheet(element.get("name", ""), parts.rows, parts.merges, comments, texts, is_hidden)
        sheet.hidden_rows = set() if parts.is_filtered or _has_filter(package, link.target) else parts.hidden_rows
        sheet.hidden_columns = {column for columns in parts.hidden_columns[:MOST_HIDDEN] for column in columns}
        sheets.append(sheet)
    yield from workbook_items(file, sheets, core_properties(package))
    if uncounted:
        yield Notice(
            file.where,
            f"Formulas without a stored value are left out ({uncounted}); open the file in a spreadsheet and save it.",
        )


def _strings(package: Package, links: Mapping[str, Link]) -> list[str]:
    name = next((link.target for link in links.values() if link.kind == "sharedStrings"), "")
    if name not in package.names:
        return []
    return [_rich_text(item) for item in package.children(name, "sst")]


def _rich_text(item: Element) -> str:
    """The text of a string with its runs, without the readings of Japanese words."""
    pieces = []
    for inner in item:
        if inner.tag == "x:t":
            pieces.append(inner.text or "")
        elif inner.tag == "x:r":
            text = "".join(node.text or "" for node in inner if node.tag == "x:t")
            properties = child(inner, "x:rPr")
            text = symbols(text, value(properties, "x:rFont", attribute="val"))
            is_raised = value(properties, "x:vertAlign", attribute="val") == "superscript"
            is_struck = value(properties, "x:strike", attribute="val", default="1") not in {"0", "false"}
            is_struck = is_struck and child(properties, "x:strike") is not None
            pieces.append(marked(text, is_raised=is_raised, is_struck=is_struck))
    return resolved("".join(pieces)).strip()


def _formats(package: Package, links: Mapping[str, Link]) -> list[Format]:
    """The number format of each style of cells."""
    name = next((link.target for link in links.values() if link.kind == "styles"), "")
    root = package.tree(name)
    custom = child(root, "x:numFmts")
    codes = dict(BUILT_IN)
    for element in custom if custom is not None else ():
        codes[whole_number(element.get("numFmtId"), -1)] = element.get("formatCode", "")
    styles = child(root, "x:cellXfs")
    return [
        parse_format(codes.get(whole_number(style.get("numFmtId")), ""))
        for style in (styles if styles is not None else ())
    ]


def _sheet(package: Package, name: str, book: _Book, limit: int) -> _SheetParts:
    """The rows of a sheet; raises LimitError if its text exceeds `limit` characters."""
    parts = _SheetParts()
    links: Mapping[str, Link] | None = None
    previous = 0
    for element in package.children(name, *ROW_PARTS):
        if element.tag == "x:row":
            previous = whole_number(element.get("r"), previous + 1)
            cells = _cells(element, book)
            if cells:
                parts.hidden_rows |= {previous} if _is_hidden(element) else set()
                parts.rows[previous] = cells
                parts.uncounted += sum(_is_uncounted(cell) for cell in element)
                parts.size += sum(map(len, cells.values()))
            if parts.size > limit:
                raise LimitError(over_record_limit(package.limits))
        elif element.tag == "x:mergeCell":
            parts.merges += _merge(element)
        elif element.tag == "x:col" and _is_hidden(element):
            first, last = whole_number(element.get("min"), 1), whole_number(element.get("max"), 1)
            parts.hidden_columns.append(range(first, min(last, MOST_COLUMNS) + 1))
        elif element.tag == "x:filterColumn":
            parts.is_filtered = True
        elif element.tag == "x:hyperlink":
            links = package.links(name) if links is None else links
            _link(element, links, parts.rows)
    return parts


def _is_hidden(element: Element) -> bool:
    """Whether a row or column is hidden, and not only part of a group that is closed."""
    return element.get("hidden") in {"1", "true"} and element.get("outlineLevel", "0") == "0"


def _has_filter(package: Package, sheet: str) -> bool:
    """Whether a table of a sheet has a filter, which hides rows."""
    tables = (link.target for link in package.links(sheet).values() if link.kind == "table")
    return any(any(package.children(table, "autoFilter")) for table in tables if table in package.names)


def _cells(row: Element, book: _Book) -> dict[int, str]:
    """Texts by column from 1."""
    cells: dict[int, str] = {}
    column = 0
    for cell in row:
        letters = cell.get("r", "").rstrip(DIGITS)
        column = column_number(letters) if letters else column + 1
        if text := _cell_text(cell, book):
            cells[column] = text
    return cells


def _cell_text(cell: Element, book: _Book) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = child(cell, "x:is")
        return _rich_text(inline) if inline is not None else ""
    text = ""
    for inner in cell:  # a loop, since this is done for each cell
        if inner.tag == "x:v":
            text = inner.text or ""
        elif inner.tag == "x:f" and inner.text and (match := LINK_FORMULA.fullmatch(inner.text)):
            return web_link((match[2] or match[1]).replace('""', '"'), match[1])
    if kind == "s":
        index = whole_number(text, -1)
        return book.strings[index] if 0 <= index < len(book.strings) else ""
    if kind == "n" and text:
        style = whole_number(cell.get("s"))
        return _number(text, book.formats[style] if 0 <= style < len(book.formats) else PLAIN, book)
    if kind == "b":
        return "TRUE" if text == "1" else "FALSE"
    return "" if kind == "e" else text.strip()  # errors such as #REF! say nothing


def _is_uncounted(cell: Element) -> bool:
    """Whether a formula has no value, because the program that wrote it does not calculate; "" is a value."""
    has_formula = any(inner.tag == "x:f" and not LINK_FORMULA.fullmatch(inner.text or "") for inner in cell)
    return has_formula and cell.get("t", "n") == "n" and not any(inner.tag == "x:v" and inner.text for inner in cell)


def _number(text: str, format_: Format, book: _Book) -> str:
    if format_.kind == "general" and format_.otherwise is None and text.isdigit():
        return text
    try:
        return shown(float(text), format_, is_1904=book.is_1904)
    except (ValueError, OverflowError):
        return text


@lru_cache(maxsize=2**14)
def column_number(letters: str) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in letters[:3]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _merge(element: Element) -> list[Merge]:
    corners = [REFERENCE.fullmatch(corner) for corner in element.get("ref", "").split(":")]
    if len(corners) != 2 or corners[0] is None or corners[1] is None:
        return []
    (left, top), (right, bottom) = corners[0].groups(), corners[1].groups()
    return [Merge(int(top), column_number(left), int(bottom), column_number(right))]


def _comments(package: Package, sheet: str) -> list[Comment]:
    """Comments on the cells of a sheet; of those with replies Excel also keeps a copy for older versions."""
    links = [link for link in package.links(sheet).values() if link.target in package.names]
    texts: dict[str, list[str]] = {}
    for link in links:
        if link.kind == "threadedComment":
            for element in package.children(link.target, "ThreadedComments"):
                text = child(element, "text")
                texts.setdefault(element.get("ref", ""), []).append(text.text or "" if text is not None else "")
    for link in links:
        if link.kind == "comments":
            for element in package.children(link.target, "commentList"):
                text = child(element, "x:text")
                texts.setdefault(element.get("ref", ""), [_rich_text(text) if text is not None else ""])
    cells = ((REFERENCE.fullmatch(cell), " ".join(parts)) for cell, parts in texts.items())
    return [Comment(cell[0], int(cell[2]), text) for cell, text in cells if cell is not None and text.strip()]


def _link(element: Element, links: Mapping[str, Link], rows: Mapping[int, dict[int, str]]) -> None:
    match = REFERENCE.match(element.get("ref", ""))
    link = links.get(element.get("r:id", ""))
    if match is not None and link is not None and link.is_external:
        row, column = rows.get(int(match[2]), {}), column_number(match[1])
        if column in row:
            row[column] = web_link(row[column], link.target)
