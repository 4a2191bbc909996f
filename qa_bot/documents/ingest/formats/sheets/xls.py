"""Reads workbooks of Excel 97 to 2003 (XLS). The only file that imports xlrd."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

import xlrd
from xlrd.sheet import Cell, Colinfo, Rowinfo
from xlrd.sheet import Sheet as XlsSheet

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.office.package import web_link
from qa_bot.documents.ingest.formats.office.properties import Properties
from qa_bot.documents.ingest.formats.sheets.number_formats import parse_format, shown
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Merge, Sheet
from qa_bot.documents.ingest.formats.sheets.workbook import workbook_items
from qa_bot.documents.ingest.records import Item, Reject

LARGEST = 4  # times the record limit: a workbook has formats beside its text
LOCKED = "Expected a workbook without a password, but got one with a password; save it without."
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def read(file: SourceFile) -> Iterator[Item]:
    """One record for the tables of a workbook, with its path as its id, and one for each question of an FAQ sheet."""
    with file.file() as stream:
        data = stream.read(LARGEST * file.limits.record_bytes + 1)
    if len(data) > LARGEST * file.limits.record_bytes:
        raise LimitError(over_record_limit(file.limits))
    if ENCRYPTED in data:
        yield Reject(file.where, LOCKED)
        return
    try:
        sheets = _sheets(file, data)
    except (LimitError, MemoryError):
        raise
    except Exception as error:  # hostile input: xlrd raises nearly everything on a broken file
        damage = f"Expected a whole workbook of Excel, but got a damaged one ({error}); save it as .xlsx."
        yield Reject(file.where, LOCKED if "encrypted" in str(error).lower() else damage)
        return
    yield from workbook_items(file, sheets, Properties())


def _sheets(file: SourceFile, data: bytes) -> list[Sheet]:
    book = xlrd.open_workbook(file_contents=data, formatting_info=True, on_demand=True, logfile=io.StringIO())
    left = file.limits.record_bytes
    sheets = []
    for index in range(book.nsheets):
        file.progress()
        sheet = _sheet(book, book.sheet_by_index(index))
        left -= sum(len(text) for row in sheet.rows.values() for text in row.values())
        if left < 0:
            raise LimitError(over_record_limit(file.limits))
        sheets.append(sheet)
        book.unload_sheet(index)
    return sheets


def _sheet(book: xlrd.Book, sheet: XlsSheet) -> Sheet:
    rows: dict[int, dict[int, str]] = {}
    for number in range(sheet.nrows):
        texts = {column: _text(book, cell) for column, cell in enumerate(sheet.row(number), 1)}
        cells = {column: text for column, text in texts.items() if text}
        if cells:
            rows[number + 1] = cells
    for (row, column), link in sheet.hyperlink_map.items():
        text = rows.get(row + 1, {}).get(column + 1)
        if text and link.url_or_path:
            rows[row + 1][column + 1] = web_link(text, str(link.url_or_path))
    # the last row and column of a merged area are not part of it
    merges = [Merge(top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells]
    hidden_rows, hidden_columns = _hidden(sheet.rowinfo_map), _hidden(sheet.colinfo_map)
    is_hidden = sheet.visibility != 0
    return Sheet(sheet.name, rows, merges, is_hidden=is_hidden, hidden_rows=hidden_rows, hidden_columns=hidden_columns)


def _hidden(infos: Mapping[int, Rowinfo | Colinfo]) -> set[int]:
    """The rows or columns that are hidden, and not only part of a group that is closed."""
    return {number + 1 for number, info in infos.items() if info.hidden and not info.outline_level}


def _text(book: xlrd.Book, cell: Cell) -> str:
    if cell.ctype in {xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE}:
        style = book.xf_list[cell.xf_index] if cell.xf_index is not None else None
        format_ = book.format_map.get(style.format_key) if style is not None else None
        return shown(cell.value, parse_format(format_.format_str if format_ else ""), is_1904=book.datemode == 1)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    return str(cell.value).strip() if cell.ctype == xlrd.XL_CELL_TEXT else ""
