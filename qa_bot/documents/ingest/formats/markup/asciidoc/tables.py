"""Tables of AsciiDoc as HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

COLUMNS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|(\d+\*?))")
FORMAT = re.compile(r"\bformat\s*=\s*[\"']?([cdpt]sv)\b")
SEPARATOR = re.compile(r"\bseparator\s*=\s*[\"']?(\\t|[^\s\"'])")
SIGNS = {"\\t": "\t"}
SEPARATORS = {"psv": "|", "csv": ",", "tsv": "\t", "dsv": ":"}
SHORT_FORMS = {"|": "psv", "!": "psv", ",": "csv", ":": "dsv"}
"""Signs of the lines around a table, and its format unless its options name one."""
REPEATED = re.compile(r"(\d+)\*")
STYLE = re.compile(r"[adehlmsv]$")
"""The last letter of a column: `a` is for cells with blocks in them."""
WIDEST = 100


class _Cell(NamedTuple):
    text: str
    columns: int = 1
    rows: int = 1
    style: str = ""


def table(lines: Sequence[str], options: str, content: Callable[[str, str], str], sign: str = "|") -> str:
    """The lines between two of `|===`, or `!===`, `,===` or `:===`, which begin with the sign.

    Args:
        content: the HTML of a cell, from its text and its style.
    """
    top = next((number for number, line in enumerate(lines) if line.strip()), 0)
    name, separator = _format(options, sign)
    if name == "psv":
        in_first = _cells(lines[top] if lines else "", separator)
        cells = _cells("\n".join(lines), separator)
        styles = _styles(options) or [""] * (sum(cell.columns for cell in in_first) or 1)
        is_whole = sum(cell.columns for cell in in_first) == len(styles)
    else:
        rows = _rows(lines, name, separator)
        styles = _styles(options) or [""] * (len(rows[0]) if rows else 1)
        is_whole = bool(rows) and len(rows[0]) == len(styles)
        cells = [_Cell(text) for row in rows for text in [*row, *[""] * (-len(row) % len(styles))]]
    is_gap_after_first = top + 1 < len(lines) and not lines[top + 1].strip() and top == 0
    is_header = ("header" in options or (is_gap_after_first and is_whole)) and "%noheader" not in options
    output = ["<table>"]
    for row_of_cells in _placed(cells, len(styles)):
        output.append("<tr>")
        tag = "th" if is_header else "td"
        for column, cell in row_of_cells:
            spans = f' colspan="{cell.columns}"' * (cell.columns > 1) + f' rowspan="{cell.rows}"' * (cell.rows > 1)
            style = "" if is_header else cell.style or styles[column]
            output.append(f"<{tag}{spans}>{content(cell.text, style)}")
        is_header = False
    return "".join([*output, "</table>"])


def _placed(cells: Iterable[_Cell], width: int) -> Iterator[list[tuple[int, _Cell]]]:
    """The cells of each row with their columns; cells of the rows above may reach into a row and fill columns of it."""
    rows_below = [0] * width  # for each column
    row: list[tuple[int, _Cell]] = []
    column = 0
    for cell in cells:
        while column >= width or rows_below[column]:
            if column >= width:
                yield row
                row, column = [], 0
            else:
                rows_below[column] -= 1
                column += 1
        row.append((column, cell))
        end = column + cell.columns
        rows_below[column:end] = [cell.rows - 1] * len(rows_below[column:end])
        column = end
    if row:
        yield row


def _format(options: str, sign: str) -> tuple[str, str]:
    """The name of a table's format and the sign between its cells."""
    named, separator = FORMAT.search(options), SEPARATOR.search(options)
    name = named[1] if named else SHORT_FORMS[sign]
    if separator:
        return name, SIGNS.get(separator[1], separator[1])
    return name, sign if name == SHORT_FORMS[sign] else SEPARATORS[name]


def _rows(lines: Sequence[str], name: str, separator: str) -> list[list[str]]:
    """The cells of each row that is not empty; in `dsv` a backslash before the separator makes it text."""
    if name == "dsv":
        divider = re.compile(rf"(?<!\\){re.escape(separator)}")
        rows = [[cell.replace(f"\\{separator}", separator) for cell in divider.split(line)] for line in lines]
    else:
        try:
            text = [f"{line}\n".replace("\r", " ") for line in lines]
            rows = list(csv.reader(text, delimiter=separator, skipinitialspace=True))
        except csv.Error:  # the quotation marks of a long text have no end
            rows = [line.split(separator) for line in lines]
    return [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]


@cache
def _cell_mark(separator: str) -> re.Pattern[str]:
    """What stands before a cell: the separator, and before it the cell's specification after a blank."""
    specification = r"(?:(\d+)?(?:\.(\d+))?([+*]))?[<^>]?(?:\.[<^>])?([adehlmsv])?"
    return re.compile(rf"(?:(?:^|(?<=\s)){specification})?(?<!\\){re.escape(separator)}", re.MULTILINE)


def _cells(text: str, separator: str) -> list[_Cell]:
    marks = list(_cell_mark(separator).finditer(text))
    result: list[_Cell] = []
    for mark, following in zip_longest(marks, marks[1:]):
        content = text[mark.end() : following.start() if following else len(text)].strip()
        content = content.replace(f"\\{separator}", separator)
        count, depth, style = min(WIDEST, int(mark[1] or 1)), min(WIDEST, int(mark[2] or 1)), mark[4] or ""
        result += [_Cell(content, style=style)] * count if mark[3] == "*" else [_Cell(content, count, depth, style)]
    return result


def _styles(options: str) -> list[str]:
    """The style of each column; none if the options do not name columns."""
    match = COLUMNS.search(options)
    if match is None:
        return []
    styles: list[str] = []
    for column in re.split("[,;]", match[1] if match[1] is not None else match[2]):
        repeated, style = REPEATED.match(column.strip()), STYLE.search(column.strip())
        styles += [style[0] if style else ""] * (min(WIDEST, int(repeated[1])) if repeated else 1)
    return styles[:WIDEST]
