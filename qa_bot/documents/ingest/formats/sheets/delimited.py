"""Reads CSV and TSV files as tables, as FAQ sheets, or as collections with a document a row.

The header decides. `question` and `answer`, in several languages, make an FAQ sheet; `text`, with an id, a title or a
URL, makes a collection of documents. A TSV file whose first row names no columns is MS MARCO's collection. All else is
a table.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.files.decoding import encoding_of
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.data import tsv
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.office.properties import Properties
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Rows, Sheet
from qa_bot.documents.ingest.formats.sheets.workbook import workbook_items
from qa_bot.documents.ingest.records import Item, Notice, Reject
from qa_bot.documents.ingest.table_shape import is_header

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 100
SAMPLE_CHARACTERS = 64 * 1024
SEPARATOR_LINE = "sep="
NAME_WORDS = 4
MOST_LONGER = 0.5
"""Share of the rows that are longer than the header above which they are no texts with commas."""
UNCLOSED = "A quotation mark never closes, so quotation marks are read as text; correct the cell."


def read(file: SourceFile) -> Iterator[Item]:
    """One record for a table, or one for each row of an FAQ sheet or of a collection."""
    text = file.text()
    delimiter, text = _delimiter(text)
    try:
        rows, is_whole = parse_rows(text, delimiter)
    except csv.Error as error:
        yield Reject(file.where, f"Expected rows of cells, but got {error}; shorten the longest cell.")
        return
    if not is_whole:
        yield Notice(file.where, UNCLOSED)
    first = next((number for number, row in enumerate(rows) if any(row)), None)
    names = tsv.header(rows[first]) if first is not None else None
    if first is not None and names is not None and "text" in names:
        yield from _documents(rows, first, names, file)
    else:
        yield from workbook_items(file, [Sheet("", _numbered(rows))], Properties())


def read_tsv(file: SourceFile) -> Iterator[Item]:
    """MS MARCO's collection and rows under its header as before, otherwise a table or an FAQ sheet."""
    head = io.StringIO(file.head.decode(encoding_of(file.head), "replace"))
    try:
        sample = [row for row in csv.reader(head, delimiter="\t", quoting=csv.QUOTE_NONE) if any(row)][:SAMPLE_ROWS]
    except csv.Error:  # a carriage return within a line
        sample = []
    is_known = not sample or tsv.header(sample[0]) is not None
    yield from tsv.read(file) if is_known or not _is_table(sample) else read(file)


def _is_table(sample: Sequence[Sequence[str]]) -> bool:
    """Whether rows stand under names of columns; a text of MS MARCO is longer than a name, or ends as a sentence."""
    names = [name.strip() for name in sample[0]]
    are_names = all(name and len(name.split()) <= NAME_WORDS and name[-1] not in ".!?" for name in names)
    widths = Counter(map(len, sample[1:]))
    return len(names) > 1 and are_names and widths[len(names)] > 0 and is_header(sample)


def _delimiter(text: str) -> tuple[str, str]:
    """The delimiter, and the text without the line of Excel that names it."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith(SEPARATOR_LINE) and len(first.strip()) == len(SEPARATOR_LINE) + 1:
        return first.strip()[-1], rest
    sample = text[:SAMPLE_CHARACTERS]
    sample = sample if len(sample) == len(text) else sample[: sample.rfind("\n") + 1] or sample
    return max(DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter)), text


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    """Share of rows with the most frequent number of columns, if that is more than one, and that number."""
    try:
        rows, _ = parse_rows(sample, delimiter)
    except csv.Error:
        return 0.0, 0
    widths = Counter(len(row) for row in rows[:SAMPLE_ROWS] if len(row) > 1)
    if not widths:
        return 0.0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    return count / sum(map(bool, rows[:SAMPLE_ROWS])), width


def parse_rows(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    """Rows of cells without outer spaces; quotation marks are text if one never closes (then the second is False).

    Raises csv.Error if a cell has more than 131,072 characters.
    """
    try:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        is_whole = not cells or "\n" not in "".join(cells[-1]) or _closes(text, delimiter)
    except csv.Error:
        is_whole = False
    if not is_whole:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=csv.QUOTE_NONE))
    return [[cell.strip() for cell in row] for row in _rejoined(cells, delimiter)], is_whole


def _rejoined(rows: Sequence[list[str]], delimiter: str) -> list[list[str]]:
    """Rows in whose last column texts with commas have no quotation marks: what goes beyond the header is part of them.

    A blank follows such a comma, and most rows have none.
    """
    width = next((len(row) for row in rows if any(row)), 0)
    longer = [number for number, row in enumerate(rows) if len(row) > width]
    if width < 2 or len(longer) > MOST_LONGER * len(rows):
        return [*rows]
    joined = [*rows]
    for number in longer:
        row = rows[number]
        if all(cell.startswith(" ") and cell.strip() for cell in row[width:]):
            joined[number] = [*row[: width - 1], delimiter.join(row[width - 1 :])]
    return joined


def _closes(text: str, delimiter: str) -> bool:
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end" not in str(error)
    return True


def _numbered(rows: Sequence[Sequence[str]]) -> Rows:
    numbered: Rows = {}
    for number, row in enumerate(rows, 1):
        if any(row):
            numbered[number] = {column: cell for column, cell in enumerate(row, 1) if cell}
    return numbered


def _documents(rows: Sequence[Sequence[str]], first: int, names: Sequence[str], file: SourceFile) -> Iterator[Item]:
    for number, row in enumerate(rows[first + 1 :], first + 2):
        if any(row):
            fields = {name: cell for name, cell in zip(names, row, strict=False) if tsv.is_field(name)}
            where = f"{file.where}:{number}"
            yield record_of(fields, where=where, default_id=f"{file.name}#{number}", repairs=file.repairs)
