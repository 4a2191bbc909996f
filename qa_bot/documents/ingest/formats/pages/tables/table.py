"""Tables of a page, and the columns that their cells are in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from qa_bot.documents.ingest.formats.pages.lines import Line
from qa_bot.documents.ingest.table_shape import is_header


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


def table_of(rows: list[list[str]], pieces: Sequence[Line], *, has_header: bool) -> Table:
    """A table of these cells, row by row, and the pieces in them."""
    return Table(
        rows,
        has_header,
        min(piece.left for piece in pieces),
        min(piece.top for piece in pieces),
        max(piece.right for piece in pieces),
        max(piece.bottom for piece in pieces),
        median_low(piece.size for piece in pieces),
    )


def names_columns(rows: Sequence[Sequence[str]], first: Sequence[Line], last: Sequence[Line]) -> bool:
    """Whether the first row is a header, by its cells and by the first and the last line."""
    if not is_header(rows):
        return False
    is_bold = all(piece.is_bold for piece in first) and not all(piece.is_bold for piece in last)
    has_numbers = any(_is_numeric(cell) for row in rows[1:] for cell in row)
    return is_bold or has_numbers or len(rows[0]) > 2


def _is_numeric(cell: str) -> bool:
    return sum(character.isdigit() for character in cell) * 2 > len(cell.replace(" ", ""))
