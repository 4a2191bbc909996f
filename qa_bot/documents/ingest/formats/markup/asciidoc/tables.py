"""Tables of AsciiDoc as HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:(\d+)?(?:\.(\d+))?([+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|", re.MULTILINE
)
"""What stands before a cell: a pipe, and before it the cell's specification after a blank."""
COLUMNS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|(\d+\*?))")
FORMAT = re.compile(r"\bformat\s*=\s*[\"']?([cdpt]sv)\b")
SEPARATOR = re.compile(r"\bseparator\s*=\s*[\"']?(\\t|[^\s\"'])")
SIGNS = {"\\t": "\t"}
SEPARATORS = {"csv": ",", "tsv": "\t", "dsv": ":"}
PIPES = ("psv", "|")
SHORT_FORMS = {"|": "psv", ",": "csv", ":": "dsv"}
"""Signs of the lines around a table, and its format unless its options name one."""
REPEATED = re.compile(r"(\d+)\*")
WIDEST = 100


def table(lines: Sequence[str], options: str, inline: Callable[[str], str], sign: str = "|") -> str:
    """The lines between two of `|===`, or `,===` or `:===`, which begin with the sign."""
    top = next((number for number, line in enumerate(lines) if line.strip()), 0)
    first = lines[top] if lines else ""
    if (divided := _format(options, sign)) == PIPES:
        marks = CELL.findall(first)
        cells, count_in_first = _cells("\n".join(lines)), len(marks)
        width = _width(options) or sum(int(count or 1) if kind else 1 for count, _, kind in marks) or 1
    else:
        rows_of_text = _rows(lines, *divided)
        count_in_first = len(rows_of_text[0]) if rows_of_text else 0
        width = _width(options) or count_in_first or 1
        cells = [(text, 1, 1) for row in rows_of_text for text in [*row, *[""] * (-len(row) % width)]]
    is_gap_after_first = top + 1 < len(lines) and not lines[top + 1].strip() and top == 0
    header = "%header" in options or "header" in options or (is_gap_after_first and count_in_first == width)
    if "%noheader" in options:
        header = False
    output: list[str] = ["<table>"]
    column = width
    rows = 0
    for text, columns, depth in cells:
        if column >= width:
            output.append("<tr>")
            column, rows = 0, rows + 1
        tag = "th" if header and rows == 1 else "td"
        spans = f' colspan="{columns}"' * (columns > 1) + f' rowspan="{depth}"' * (depth > 1)
        output.append(f"<{tag}{spans}>{inline(text)}")
        column += columns
    return "".join([*output, "</table>"])


def _format(options: str, sign: str) -> tuple[str, str]:
    """The name of a table's format and the sign between its cells."""
    named, separator = FORMAT.search(options), SEPARATOR.search(options)
    name = named[1] if named else SHORT_FORMS[sign]
    if name == PIPES[0]:
        return PIPES
    return name, SIGNS.get(separator[1], separator[1]) if separator else SEPARATORS[name]


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


def _cells(text: str) -> list[tuple[str, int, int]]:
    """Text, number of columns, and number of rows of each cell."""
    marks = list(CELL.finditer(text))
    result: list[tuple[str, int, int]] = []
    for mark, following in zip_longest(marks, marks[1:]):
        content = text[mark.end() : following.start() if following else len(text)].strip().replace("\\|", "|")
        count, depth = min(WIDEST, int(mark[1] or 1)), min(WIDEST, int(mark[2] or 1))
        if mark[3] == "*":
            result += [(content, 1, 1)] * count
        else:
            result.append((content, count, depth))
    return result


def _width(options: str) -> int:
    match = COLUMNS.search(options)
    if match is None:
        return 0
    value = match[1] if match[1] is not None else match[2]
    if repeated := REPEATED.fullmatch(value.strip()):
        return min(WIDEST, int(repeated[1]))
    if value.strip().isdigit() and match[1] is None:
        return 1
    return min(
        WIDEST, sum(int(part[1]) if (part := REPEATED.match(item.strip())) else 1 for item in re.split("[,;]", value))
    )
