"""Tables of AsciiDoc as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:(\d+)?(?:\.(\d+))?([+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|", re.MULTILINE
)
"""What stands before a cell: a pipe, and before it the cell's specification after a blank."""
COLUMNS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|(\d+\*?))")
REPEATED = re.compile(r"(\d+)\*")
WIDEST = 100


def table(lines: Sequence[str], options: str, inline: Callable[[str], str]) -> str:
    """The lines between two `|===`."""
    rows_below = next((number for number, line in enumerate(lines) if line.strip()), 0)
    first = lines[rows_below] if lines else ""
    cells = list(_cells("\n".join(lines)))
    width = _width(options) or sum(int(count or 1) if kind else 1 for count, _, kind in CELL.findall(first)) or 1
    is_gap_after_first = rows_below + 1 < len(lines) and not lines[rows_below + 1].strip() and rows_below == 0
    header = "%header" in options or "header" in options or (is_gap_after_first and len(CELL.findall(first)) == width)
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
