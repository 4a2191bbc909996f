"""The rows and cells of the tables that are open, as HTML."""

from __future__ import annotations

import re

NAMES_BELOW = re.compile(r"\s*(?:\\(?:hline|midrule)\s*)?(?:&|\\c(?:line|midrule)\b)")
"""What is between names of groups of columns and those of the columns."""
TRIMMED = re.compile(r"\s*\([^()]{0,40}\)")
"""How a line below cells is cut: "(lr)"."""
FARTHEST = 20  # parts of the output between a cell and what says how wide it is


class Tabulars:
    """Tables, the innermost last; the first row of each is its header, and the second one if the first names groups."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._has_groups = False

    def __bool__(self) -> bool:
        return bool(self._rows)

    def begin(self) -> str:
        """The beginning of a table and its first cell."""
        self._rows.append(0)
        self._has_groups = False
        return "<table><tr><th>"

    def end(self) -> None:
        """The innermost table has ended."""
        if self._rows:
            self._rows.pop()

    @property
    def cell(self) -> str:
        """The beginning of a cell."""
        return "<th>" if self._rows[-1] == 0 else "<td>"

    def row(self, text: str, position: int) -> str:
        """The beginning of the row whose source is at this position, and of its first cell."""
        if self._rows[-1] or not self._has_groups or not NAMES_BELOW.match(text, position):
            self._rows[-1] += 1
        self._has_groups = False
        return f"<tr>{self.cell}"

    def widen(self, output: list[str], columns: int) -> None:
        """Let the last cell of the output take several columns."""
        for place in range(len(output) - 1, max(-1, len(output) - FARTHEST), -1):
            if output[place].endswith(("<th>", "<td>")):
                output[place] = f'{output[place][:-1]} colspan="{columns}">'
                self._has_groups = True
                return
