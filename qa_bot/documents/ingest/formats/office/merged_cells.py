"""Tables of text documents and slides: merged cells repeat their text, header rows become one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.table_shape import header_rows, joined_names


class Merged(Enum):
    """A place of a table that belongs to the cell beside or above it."""

    LEFT = "left"
    ABOVE = "above"


Cell = str | Merged


class Table(NamedTuple):
    """Cells by rows; `captions` are rows of one cell above the table."""

    captions: list[str]
    cells: list[list[str]]
    has_header: bool

    def write(self, writer: MarkdownWriter) -> None:
        """Writes the captions and the table."""
        for caption in self.captions:
            writer.paragraph(caption)
        writer.table(self.cells, header=self.has_header)


def table_of(rows: Sequence[Sequence[Cell]], marked: Sequence[bool]) -> Table:
    """The table of rows of places; `marked` says for each row whether the document calls it a header."""
    grid = _unmerged(rows)
    count = next((number for number, row in enumerate(rows) if not _is_one_cell(row)), len(rows))
    captions, grid = [row[0] for row in grid[:count] if row], grid[count:]
    marked = marked[count:]
    headers = next((number for number, is_header in enumerate(marked) if not is_header), len(marked))
    headers = headers or header_rows(grid)
    if 1 < headers < len(grid):
        grid = [[joined_names(column) for column in zip(*grid[:headers], strict=True)], *grid[headers:]]
    return Table(captions, grid, has_header=headers > 0 and len(grid) > 1)


def _unmerged(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The texts of rows of one width: a merged cell repeats its text, unless it is a whole row, which heads a group."""
    grid: list[list[str]] = []
    for row in rows:
        texts: list[str] = []
        for column, cell in enumerate(row):
            if isinstance(cell, str):
                texts.append(cell)
            elif cell is Merged.ABOVE:
                texts.append(grid[-1][column] if grid and column < len(grid[-1]) else "")
            else:
                texts.append("" if _is_one_cell(row) or not texts else texts[-1])
        grid.append(texts)
    width = max(map(len, grid), default=0)
    return [texts + [""] * (width - len(texts)) for texts in grid]


def _is_one_cell(row: Sequence[Cell]) -> bool:
    return all(cell is Merged.LEFT for cell in row[1:])
