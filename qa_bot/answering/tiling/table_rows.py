"""Tables in a stretch of a passage: rows are whole, have their header above them, and are named by numbers."""

from __future__ import annotations

import re
from collections.abc import Collection

from qa_core.text.analysis import terms
from qa_core.text.markdown_text import header_above
from qa_core.types import Span

_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)
_JOINED = re.compile(r"([^\W\d_]+)(\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_KEY = re.compile(r"\b([^\W\d_]{3,}) (\d{1,4})(?![\w%]|[.,:/-]\d)")
FEWEST_KEYS, MOST_KEYS = 2, 0.6
"""Numbers of a column that names its rows: so many, and this share of its cells."""
_RANGE = re.compile(r"(\d+)\s*(?:[-–—]|to|bis|à)\s*(\d+)\b")


def at_end_of_row(text: str, least: int, end: int) -> int:
    """`end`, moved back if it is inside a table, but not before `least`: to the end of the row before, or of the text
    above the table if no row would be left below the header."""
    line = text.rfind("\n", 0, end) + 1
    is_inside = text.startswith("|", line) and line < end and text[end : end + 1] not in {"", "\n"}
    if line > 0 and (is_inside or (line == end and text.startswith("|", end))):
        end = max(least, line - 1)
    if not text.startswith("\n|", end):
        return end
    header = header_above(text, end + 1) or header_above(text, text.find("\n", end + 1) + 1)
    return max(least, len(text[: header[0]].rstrip())) if header and end < header[1] else end


def end_of_table(text: str) -> int:
    """Where the table ends that a text begins with; 0 if it begins with none."""
    table = _TABLE.match(text)
    return table.end() if table else 0


def row_names(text: str, row: Span, question: Collection[str], language: str) -> frozenset[str]:
    """The terms of a question whose number names a row: in its first cell stands the number, or a range with it.

    "Band 6" names the row "| 5 – 6 | 8 weeks |" below "| Band | Notice |", and "4.1" the row "| 4.1 | 3.8 |".

    Args:
        text: Markdown.
        row: the span of a row in it.
        question: index terms in the analysis of `language`; "band6" is the 6 of a band.
    """
    header = header_above(text, row[0])
    if header is None:
        return frozenset()
    cell = first_cell(text[slice(*row)])
    words = {*terms(first_cell(text[slice(*header)]), language), *terms(cell, language)}
    return frozenset(term for term in question if _is_named(term, cell, words, question, language))


def named_by_rows(text: str, question: Collection[str], language: str) -> frozenset[str]:
    """The terms of a question whose number names a row of a table in a text; see `row_names`."""
    return frozenset(term for row in _ROW.finditer(text) for term in row_names(text, row.span(), question, language))


def lacks_key(text: str, question: str, language: str, *, sections: Collection[str] = ()) -> bool:
    """Whether a table has a column of numbers that the question names one of, and the text does not have that one.

    "What does code 7 mean?" is not answered by the rows of a column "Code" with 0, 1, 2, 3 and 10.

    Args:
        text: Markdown, with the headings above it.
        sections: numbers that name sections.
    """
    for name, number in _KEY.findall(question):
        is_there = number in sections or re.search(rf"(?<![\w.,]){number}(?!\w|[.,]\d)", text)
        stems = set() if is_there else {*terms(name, language)}
        if stems and any(_is_numbered(table[0], stems, language) for table in _TABLE.finditer(text)):
            return True
    return False


def _is_numbered(table: str, stems: set[str], language: str) -> bool:
    """Whether most cells of a column whose header has one of these terms are bare numbers, and none is a range."""
    header, _, *rows = [
        [cell.strip(" *`") for cell in line.strip().strip("|").split("|")] for line in f"{table}\n\n".split("\n")
    ]
    for column, head in enumerate(header):
        cells = [row[column] for row in rows if len(row) > column and row[column]]
        numbers = [cell for cell in cells if cell.isdigit()]
        is_open = any(_RANGE.search(cell) or not cell[-1:].isalnum() for cell in cells)
        if (
            len(numbers) >= max(FEWEST_KEYS, MOST_KEYS * len(cells))
            and not is_open
            and stems & {*terms(head, language)}
        ):
            return True
    return False


def first_cell(line: str) -> str:
    """The text of a row's first cell, without emphasis."""
    return line.strip().removeprefix("|").partition("|")[0].strip(" *`")


def _is_named(term: str, cell: str, words: set[str], question: Collection[str], language: str) -> bool:
    joined = _JOINED.fullmatch(term)
    number = joined[2] if joined else term
    if not _NUMBER.fullmatch(number):
        return False
    if joined and not words & {*terms(joined[1], language)}:
        return False
    if cell == number:
        return True
    is_about = bool(joined) or any(word in question for word in words)
    spans = _RANGE.findall(cell) if is_about and number.isdigit() else ()
    return any(int(least) <= int(number) <= int(most) for least, most in spans)
