"""Reads OpenDocument spreadsheets (ODS) as a stream: values as shown, dates in ISO 8601, repeated cells bounded."""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import Handler, events
from qa_bot.documents.ingest.formats.office.names import short, whole_number
from qa_bot.documents.ingest.formats.office.opendocument.documents import check_encryption, odf_properties
from qa_bot.documents.ingest.formats.office.opendocument.flat import CONTENT, Parts, read_parts
from qa_bot.documents.ingest.formats.office.package import LARGEST_PART, web_link
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Comment, Merge, Sheet
from qa_bot.documents.ingest.formats.sheets.workbook import workbook_items
from qa_bot.documents.ingest.records import Item, Limits

MOST_REPEATED = 1000  # equal rows or cells that are written once in the file
CELLS = {"table:table-cell", "table:covered-table-cell"}
HIDDEN = "collapse"
"""Of a row or column; a filter has another word."""
COMMENT = "office:annotation"
SKIPPED = {
    "dc:creator",
    "dc:date",
    "meta:date-string",
    "meta:creator-initials",
    "text:ruby-text",
    "table:tracked-changes",
    "table:shapes",
}


def read(file: SourceFile) -> Iterator[Item]:
    """One record for the tables of a workbook, with its path as its id, and one for each question of an FAQ sheet."""
    yield from read_parts(file, lambda package: _read(file, package))


def _read(file: SourceFile, package: Parts) -> Iterator[Item]:
    check_encryption(package)
    handler = _Cells(file)
    # a sheet is a result: a large one is markup for the most part
    limits = Limits(record_bytes=LARGEST_PART * file.limits.record_bytes)
    with package.open(CONTENT) as stream:
        sheets = list(events(stream, handler, limits))
    yield from workbook_items(file, sheets, odf_properties(package))


class _Cells(Handler[Sheet]):
    """Collects the cells of each sheet from the parser's events."""

    def __init__(self, file: SourceFile) -> None:
        super().__init__()
        self._file = file
        self._sheet = Sheet("", {})
        self._row = 0
        self._row_repeated = 1
        self._column = 0
        self._columns = 0  # of the sheet
        self._is_row_hidden = False
        self._cell: dict[str, str] | None = None
        self._cells: dict[int, str] = {}
        self._text: list[str] = []
        self._outer_text: list[str] = []  # that of the cell while a comment on it is read
        self._links: list[tuple[str, int]] = []
        self._skipping = 0
        self._size = 0
        self._style = ""
        self._hidden_styles: set[str] = set()  # of sheets

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = short(tag)
        if self._skipping or name in SKIPPED:
            self._skipping += 1
        elif name in CELLS:
            self._cell = {short(key): value for key, value in attributes.items()}
            self._text = []
        elif name == "table:table-row":
            self._row += 1
            values = {short(key): value for key, value in attributes.items()}
            self._row_repeated = max(1, whole_number(values.get("table:number-rows-repeated"), 1))
            self._column, self._cells = 0, {}
            self._is_row_hidden = values.get("table:visibility") == HIDDEN
        elif name == "table:table-column":
            self._start_column({short(key): value for key, value in attributes.items()})
        elif name == "table:table":
            values = {short(key): value for key, value in attributes.items()}
            is_hidden = values.get("table:style-name") in self._hidden_styles
            self._sheet, self._row = Sheet(values.get("table:name", ""), {}, is_hidden=is_hidden), 0
            self._columns = 0
        elif name in {"style:style", "style:table-properties"}:
            self._start_style({short(key): value for key, value in attributes.items()})
        elif name == COMMENT and self._cell is not None:
            self._outer_text, self._text = self._text, []
        elif self._cell is not None:
            self._start_text(name, {short(key): value for key, value in attributes.items()})

    def _start_column(self, attributes: dict[str, str]) -> None:
        repeated = max(1, whole_number(attributes.get("table:number-columns-repeated"), 1))
        if attributes.get("table:visibility") == HIDDEN:
            first = self._columns + 1
            self._sheet.hidden_columns.update(range(first, first + min(repeated, MOST_REPEATED)))
        self._columns += repeated

    def _start_style(self, attributes: dict[str, str]) -> None:
        self._style = attributes.get("style:name", self._style)
        if attributes.get("table:display") == "false":
            self._hidden_styles.add(self._style)

    def _start_text(self, name: str, attributes: dict[str, str]) -> None:
        if name in {"text:p", "text:line-break"} and self._text:
            self._text.append("\n")
        elif name in {"text:s", "text:tab"}:
            self._text.append(" ")
        elif name == "text:a":
            self._links.append((attributes.get("xlink:href", ""), len(self._text)))

    def data(self, text: str) -> None:
        if self._cell is not None and not self._skipping:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        name = short(tag)
        if name in CELLS and self._cell is not None:
            self._end_cell(self._cell)
        elif name == COMMENT and self._cell is not None:
            self._end_comment("".join(self._text).strip())
            self._text = self._outer_text
        elif name == "text:a" and self._links:
            target, start = self._links.pop()
            self._text[start:] = [web_link("".join(self._text[start:]), target)]
        elif name == "table:table-row":
            self._end_row()
        elif name == "table:table":
            self.results.append(self._sheet)

    def _end_comment(self, text: str) -> None:
        if text:
            self._sheet.comments.append(Comment(f"{_letters(self._column + 1)}{self._row}", self._row, text))
            self._size += len(text)

    def _end_cell(self, cell: dict[str, str]) -> None:
        text = cell.get("office:date-value", "") if cell.get("office:value-type") == "date" else ""
        text = text.replace("T", " ").removesuffix(" 00:00:00") or "".join(self._text).strip()
        repeated = max(1, whole_number(cell.get("table:number-columns-repeated"), 1))
        if text:
            first = self._column + 1
            self._cells.update(dict.fromkeys(range(first, first + min(repeated, MOST_REPEATED)), text))
            self._size += len(text) * min(repeated, MOST_REPEATED)
            down = whole_number(cell.get("table:number-rows-spanned"), 1)
            right = whole_number(cell.get("table:number-columns-spanned"), 1)
            if down > 1 or right > 1:
                self._sheet.merges.append(Merge(self._row, first, self._row + down - 1, first + right - 1))
        self._column += repeated
        self._cell, self._links = None, []

    def _end_row(self) -> None:
        if self._cells:
            for row in range(self._row, self._row + min(self._row_repeated, MOST_REPEATED)):
                self._sheet.rows[row] = dict(self._cells)
                self._sheet.hidden_rows |= {row} if self._is_row_hidden else set()
            self._size += sum(map(len, self._cells.values())) * (min(self._row_repeated, MOST_REPEATED) - 1)
        self._row += self._row_repeated - 1
        if self._row % MOST_REPEATED == 0:
            self._file.progress()
        if self._size > self._file.limits.record_bytes:
            raise LimitError(over_record_limit(self._file.limits))


def _letters(column: int) -> str:
    """A for 1, AA for 27."""
    letters = ""
    while column > 0:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
