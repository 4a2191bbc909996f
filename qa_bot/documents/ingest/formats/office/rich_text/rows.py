"""Rows of tables of RTF files: where their cells end, and which belong to the cell beside or above them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from qa_bot.documents.ingest.formats.office.merged_cells import Cell, Merged

SAME_EDGE = 40  # twips between edges that are one
MOST_COLUMNS = 64


@dataclass(slots=True)
class RowShape:
    """The right edge of each cell of a row, and what is merged with a neighbour; `next_merged` is of the next cell."""

    edges: list[int] = field(default_factory=list)
    merged: list[Merged | None] = field(default_factory=list)
    next_merged: Merged | None = None

    def end_cell(self, edge: int) -> None:
        """The definition of a cell is complete."""
        self.edges.append(edge)
        self.merged.append(self.next_merged)
        self.next_merged = None

    def cells(self, texts: Sequence[str]) -> list[Cell]:
        """The texts of the row; those of merged cells are in the cell before, unless they have one."""
        merged = self.merged if len(self.merged) >= len(texts) else [None] * len(texts)
        return [text if text or sign is None else sign for text, sign in zip(texts, merged, strict=False)]


def grid_of(rows: Sequence[tuple[Sequence[Cell], Sequence[int]]]) -> list[list[Cell]]:
    """Rows of one width: a cell that is as wide as several of another row takes their columns.

    Rows stay unchanged if their edges are unknown, or if no row has a cell in each column.
    """
    plain = [list(cells) for cells, _ in rows]
    if any(len(edges) != len(cells) or list(edges) != sorted(set(edges)) for cells, edges in rows):
        return plain
    columns = _columns([edges for _, edges in rows])
    if len(columns) > MOST_COLUMNS or len(columns) != max(map(len, plain)):
        return plain
    grid: list[list[Cell]] = []
    for cells, edges in rows:
        row: list[Cell] = []
        for cell, edge in zip(cells, edges, strict=True):
            end = bisect_left(columns, edge) + 1
            row += [cell, *[Merged.LEFT] * (end - len(row) - 1)]
        grid.append(row)
    return grid if all(len(row) <= len(columns) for row in grid) else plain


def _columns(rows: Sequence[Sequence[int]]) -> list[int]:
    """The right edges of all columns; edges of several rows that are almost the same are one."""
    narrowest = min((right - left for edges in rows for left, right in pairwise(edges)), default=2 * SAME_EDGE)
    tolerance = min(SAME_EDGE, (narrowest - 1) // 2)
    columns: list[int] = []
    for edge in sorted({edge for edges in rows for edge in edges}):
        if columns and edge - columns[-1] <= tolerance:
            columns[-1] = edge
        else:
            columns.append(edge)
    return columns
