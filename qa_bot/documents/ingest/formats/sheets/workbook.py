"""Records of a workbook: one for its tables, and one for each question of its FAQ sheets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.field_markup import cells_without_tags
from qa_bot.documents.ingest.formats.office.properties import Properties, check_size, document_record
from qa_bot.documents.ingest.formats.remarks import are_notes, divided
from qa_bot.documents.ingest.formats.sheets.faq import faq_columns, faq_records
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Comment, Sheet, Table, tables_of
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item

PART = 50_000  # characters of a table, so that a parser can take it at once
LONGEST_HEADER = 2000  # characters with the line of dashes; a longer one would not be repeated in each passage
NARROW = 500  # characters of the header and a row of the parts that such a table is divided into
LONGEST_NAME = 60  # characters of the first cell of a row, which names it


def workbook_items(file: SourceFile, sheets: Sequence[Sheet], properties: Properties) -> Iterator[Item]:
    """A record for all tables, with a heading of level 2 for each sheet, and records of FAQ sheets.

    An FAQ's id is `FILE#ROW`, in a workbook of several sheets `FILE#SHEET!ROW`. If its sheet has a column of ids, they
    take the place of the row; those of a file of separated values, which has no sheets, are ids unchanged.
    """
    writer = MarkdownWriter()
    has_pairs = False
    for sheet in sheets:
        begun, name = False, f"{sheet.name}{' (hidden sheet)' if sheet.is_hidden else ''}"
        for table in tables_of(sheet, limit=file.limits.record_bytes):
            columns = faq_columns(table.header)
            if columns is not None:
                has_pairs = True
                part = f"{sheet.name}!" if len(sheets) > 1 else ""
                yield from faq_records(
                    table,
                    columns,
                    prefix=f"{file.name}#{part}",
                    where=file.where,
                    repairs=file.repairs,
                    has_unique_ids=not sheet.name,
                )
                continue
            if not begun:
                writer.heading(2, name)
            begun = True
            write_table(writer, _with_hidden_marked(table, sheet))
            check_size(file, writer)
        if sheet.texts and not begun:
            writer.heading(2, name)
        for text in [*(_comment_text(comment, sheet) for comment in sheet.comments if begun), *sheet.texts]:
            writer.paragraph(text)
            check_size(file, writer)
    if len(writer) or not has_pairs:
        yield document_record(file, writer, properties)


def _comment_text(comment: Comment, sheet: Sheet) -> str:
    """A comment with its cell and what its row is about: "Comment on C4 (Hotel, Berlin): Breakfast included."."""
    cells = sheet.rows.get(comment.row, {})
    name = " ".join(cells[min(cells)].split()) if cells else ""
    about = f" ({name})" if 0 < len(name) <= LONGEST_NAME else ""
    return f"Comment on {comment.cell}{about}: {' '.join(comment.text.split())}"


def _with_hidden_marked(table: Table, sheet: Sheet) -> Table:
    """A table whose hidden columns and rows say so in their names, as the headings of hidden sheets do."""
    header = [
        f"{name} (hidden column)" if name and column in sheet.hidden_columns else name
        for name, column in zip(table.header, table.columns, strict=False)
    ]
    rows = [[*row] for row in table.rows]
    for number, row in enumerate(rows, table.first_row):
        if number in sheet.hidden_rows and any(row):
            row[next(place for place, cell in enumerate(row) if cell)] += " (hidden row)"
    return replace(table, header=header, rows=rows)


def write_table(writer: MarkdownWriter, table: Table) -> None:
    """Writes the lines above a table, and the table with the numbers of its rows; a wide one in several parts."""
    for caption in table.captions:
        writer.paragraph(caption)
    width = max(map(len, table.rows), default=0)
    cells = [*table.header, *(row[0] for row in table.rows)] if width == 1 else []
    if cells and ((not table.header and len(table.rows) < 3) or are_notes(cells)):
        for cell in cells:
            writer.paragraph(cell)
        return
    rows, remarks = divided(table.rows)
    _write_rows(writer, replace(table, rows=rows))
    for remark in remarks:
        writer.paragraph(remark)


def _write_rows(writer: MarkdownWriter, table: Table) -> None:
    for columns in _column_parts(table):
        header = [table.header[column] for column in columns] if table.header else []
        first_row = table.first_row
        for part in _parts(cells_without_tags([[row[column] for column in columns] for row in table.rows])):
            rows = [header, *part] if header else part
            writer.table(rows, header=bool(header), first_row=first_row)
            first_row += len(part)


def _column_parts(table: Table) -> Iterator[list[int]]:
    """All columns, or some at a time if the header is long: a short first one, which names the rows, in each part."""
    sizes = [len(name) + len("|  | --- ") for name in table.header]
    if sum(sizes) <= LONGEST_HEADER:
        yield [*range(max(map(len, [table.header, *table.rows])))]
        return
    for column in range(len(sizes)):
        sizes[column] += sum(len(row[column]) + len("|  ") for row in table.rows) // max(1, len(table.rows))
    key = [0] if 2 * sizes[0] <= NARROW else []
    part: list[int] = []
    size = left = NARROW - sum(sizes[column] for column in key)
    for column in range(len(key), len(sizes)):
        if part and sizes[column] > left:
            yield key + part
            part, left = [], size
        part.append(column)
        left -= sizes[column]
    yield key + part


def _parts(rows: Sequence[list[str]]) -> Iterator[list[list[str]]]:
    """Rows in parts of about `PART` characters: a long table is written as several with the same header."""
    part: list[list[str]] = []
    size = 0
    for row in rows:
        part.append(row)
        size += sum(map(len, row)) + 3 * len(row)
        if size >= PART:
            yield part
            part, size = [], 0
    if part:
        yield part
