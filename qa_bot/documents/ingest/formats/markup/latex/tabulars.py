"""The rows and cells of the tables that are open, as HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAMES_BELOW = re.compile(r"\s*(?:\\(?:hline|midrule)\s*)?(?:&|\\c(?:line|midrule)\b)")
"""What is between names of groups of columns and those of the columns."""
TRIMMED = re.compile(r"\s*\([^()]{0,40}\)")
"""How a line below cells is cut: "(lr)"."""
MOST_REPEATED = 1_000_000  # characters of the cells of a document


@dataclass(slots=True)
class _Table:
    """`cell_start` is the place in the output of what the last cell holds; `below` are texts by their columns."""

    cell_start: int
    row: int = 0
    column: int = 0
    columns: int = 1
    rows: int = 1
    has_groups: bool = False
    below: dict[int, tuple[str, int]] = field(default_factory=dict)


class Tabulars:
    """Tables, the innermost last; the first row of each is its header, and the second one if the first names groups.

    A cell of several rows is repeated in the empty cells below it.
    """

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        self._left = MOST_REPEATED

    def __bool__(self) -> bool:
        return bool(self._tables)

    def begin(self, output: list[str]) -> None:
        """A table and its first cell begin."""
        output.append("<table><tr><th>")
        self._tables.append(_Table(len(output)))

    def end(self, output: list[str]) -> None:
        """The innermost table has ended, perhaps after the end of a row."""
        if self._tables:
            if self._tables[-1].column:
                self._end_cell(output)
            self._tables.pop()

    def begin_cell(self, output: list[str]) -> None:
        """The next cell of the row begins."""
        self._end_cell(output)
        table = self._tables[-1]
        table.column += table.columns
        self._open_cell(output, "")

    def begin_row(self, output: list[str], text: str, position: int) -> None:
        """The row whose source is at this position begins, and its first cell."""
        self._end_cell(output)
        table = self._tables[-1]
        if table.row or not table.has_groups or not NAMES_BELOW.match(text, position):
            table.row += 1
        table.column, table.has_groups = 0, False
        self._open_cell(output, "<tr>")

    def widen(self, output: list[str], columns: int) -> None:
        """Let the last cell take several columns."""
        table = self._tables[-1]
        opened = output[table.cell_start - 1]
        if opened.endswith(("<th>", "<td>")):
            output[table.cell_start - 1] = f'{opened[:-1]} colspan="{columns}">'
            table.columns, table.has_groups = columns, True

    def deepen(self, _output: list[str], rows: int) -> None:
        """Let the last cell take several rows."""
        self._tables[-1].rows = rows

    def _open_cell(self, output: list[str], before: str) -> None:
        table = self._tables[-1]
        output.append(f"{before}<{'td' if table.row else 'th'}>")
        table.cell_start, table.columns, table.rows = len(output), 1, 1

    def _end_cell(self, output: list[str]) -> None:
        table = self._tables[-1]
        text, rows = table.below.pop(table.column, ("", 0))
        if content := "".join(output[table.cell_start :]).strip():
            text, rows = content, table.rows - 1
        elif rows and self._left >= len(text):
            output.append(text)
            self._left -= len(text)
            rows -= 1
        if rows:
            table.below[table.column] = (text, rows)
