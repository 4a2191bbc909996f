"""Paragraphs below each other whose words only tabs put into columns: they are the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from qa_bot.documents.ingest.table_shape import header_rows, is_value

FEWEST_ROWS = 3
FEWEST_COLUMNS = 3
"""Of two columns, only amounts below a name make a table: "Name:", a tab, and "Anna" are a line of a letter."""
LONGEST_CELL = 80  # characters
T = TypeVar("T")


class TabbedLines(Generic[T]):
    """Holds paragraphs of the same number of columns, each with what its caller needs to write it otherwise."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._held: list[T] = []

    def takes(self, cells: list[str], paragraph: T) -> bool:
        """Whether a paragraph is held; otherwise the caller takes those before it, and this one again or writes it."""
        begins_empty = len(self._rows) == 1 and not self._rows[0][0]
        cells = cells if cells[0] or not self._rows else cells[1:]
        if max(map(len, cells)) > LONGEST_CELL or sum(map(bool, cells)) < 2:
            return False
        if self._rows and len(cells) != len(self._rows[0]):
            if not (begins_empty and len(cells) == len(self._rows[0]) - 1):
                return False
            self._rows[0] = self._rows[0][1:]
        self._rows.append(cells)
        self._held.append(paragraph)
        return True

    def take(self) -> tuple[list[list[str]], list[T]]:
        """The rows if they are a table, and all paragraphs that are held."""
        rows, held, self._rows, self._held = self._rows, self._held, [], []
        return (rows if _is_table(rows) else []), held


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    if len(rows) < FEWEST_ROWS:
        return False
    return len(rows[0]) >= FEWEST_COLUMNS or (
        header_rows(rows) == 1 and not is_value(rows[0][1]) and all(is_value(row[1]) for row in rows[1:])
    )
