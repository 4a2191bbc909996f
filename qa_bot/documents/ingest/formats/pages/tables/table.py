"""Tables of a page, and the columns that their cells are in."""

from __future__ import annotations

from dataclasses import dataclass

from qa_bot.documents.ingest.formats.pages.lines import Line


@dataclass(slots=True)
class Column:
    """The stretch of the page's width that a column's cells take."""

    left: float
    right: float

    def overlaps(self, piece: Line) -> bool:
        return piece.left < self.right and piece.right > self.left


@dataclass(slots=True)
class Table:
    """Cells, row by row, and the box of the table; lines of a cell are not joined yet."""

    rows: list[list[str]]
    has_header: bool
    left: float
    top: float
    right: float
    bottom: float
    size: float = 0.0
    """The usual height of its characters in points."""

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2
