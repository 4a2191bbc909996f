"""Tables in closed grids of drawn lines; a cell may take several rows or columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

from qa_bot.documents.ingest.formats.pages.lines import Line, Rule, Upright, rows_of
from qa_bot.documents.ingest.formats.pages.tables.rows import PADDING, Row, band_heads
from qa_bot.documents.ingest.formats.pages.tables.table import Table, names_columns, table_of
from qa_bot.documents.ingest.table_shape import is_header, joined_names

SAME_PLACE = 2.0  # points between lines that are one
MOST_LINES = 300  # in each direction of a page; drawings have more
MOST_CELLS = 5000
FEWEST = 2  # rows and columns


class Stroke(NamedTuple):
    """A drawn line: its height and its left and right ends, or its distance from the left and its ends."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Cell:
    """The numbers of the first row and column that a cell takes, and those after its last ones; its text."""

    top: int
    left: int
    bottom: int
    right: int
    pieces: list[Line]


@dataclass(slots=True)
class Grid:
    """The edges of columns and rows, the cells in reading order, and the cell at each row and column."""

    xs: list[float]
    ys: list[float]
    cells: list[Cell]
    places: dict[tuple[int, int], Cell]

    def take(self, pieces: Iterable[Line]) -> bool:
        """Put what is in the grid into its cells; whether no text crosses an edge."""
        for piece in pieces:
            x = (piece.left + piece.right) / 2
            if not (self.xs[0] < x < self.xs[-1] and self.ys[0] < piece.middle < self.ys[-1]):
                continue
            cell = self.places[bisect_left(self.ys, piece.middle) - 1, bisect_left(self.xs, x) - 1]
            if piece.left < self.xs[cell.left] - SAME_PLACE or piece.right > self.xs[cell.right] + SAME_PLACE:
                return False
            cell.pieces.append(piece)
        return True

    def takes_row(self, cell: Cell) -> bool:
        """Whether a cell is as wide as the table, as a title or the name of the rows below it is."""
        return cell.right - cell.left == len(self.xs) - 1


def drawn_tables(
    rows: Sequence[Row], rules: Sequence[Rule], uprights: Sequence[Upright]
) -> tuple[list[Table], list[Row]]:
    """The tables with merged cells that are drawn on a page, and the rows of what is in none."""
    tables: list[Table] = []
    rest = list(rows)
    for grid in _grids(rules, uprights):
        if grid.take(piece for row in rest for piece in row) and (table := _table(grid)):
            tables.append(table)
            inside = {id(piece) for cell in grid.cells for piece in cell.pieces}
            rest = [left for row in rest if (left := [piece for piece in row if id(piece) not in inside])]
    return tables, rest


def _grids(rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[Grid]:
    across = _strokes(Stroke(rule.y, rule.left, rule.right) for rule in rules)
    down = _strokes(Stroke(*upright) for upright in uprights)
    if not 0 < len(across) * len(down) <= MOST_LINES**2:
        return []
    grids = [_grid(*group) for group in _touching(across, down)]
    return [grid for grid in grids if grid]


def _strokes(parts: Iterable[Stroke]) -> list[Stroke]:
    """Lines whose parts touch, each as one."""
    levels: list[list[Stroke]] = []
    for part in sorted(parts):
        if levels and part.at - levels[-1][0].at <= SAME_PLACE:
            levels[-1].append(part)
        else:
            levels.append([part])
    strokes: list[Stroke] = []
    for level in levels:
        at = level[0].at
        for _, start, end in sorted(level, key=lambda part: part.start):
            if strokes and strokes[-1].at == at and start <= strokes[-1].end + SAME_PLACE:
                strokes[-1] = Stroke(at, strokes[-1].start, max(end, strokes[-1].end))
            else:
                strokes.append(Stroke(at, start, end))
    return strokes


def _touching(across: Sequence[Stroke], down: Sequence[Stroke]) -> list[tuple[list[Stroke], list[Stroke]]]:
    """Horizontal and vertical lines that touch each other, directly or by others."""
    groups: list[tuple[set[Stroke], list[Stroke]]] = []
    for line in down:
        touched = {other for other in across if _is_on(line, other.at) and _is_on(other, line.at)}
        lines = [line]
        for group in [group for group in groups if group[0] & touched]:
            touched |= group[0]
            lines += group[1]
            groups.remove(group)
        groups.append((touched, lines))
    return [(sorted(touched), lines) for touched, lines in groups]


def _is_on(stroke: Stroke, place: float) -> bool:
    return stroke.start - SAME_PLACE <= place <= stroke.end + SAME_PLACE


def _grid(across: Sequence[Stroke], down: Sequence[Stroke]) -> Grid | None:
    """A grid of at least two rows and columns all of whose cells are closed, if one of them is merged."""
    xs, ys = sorted({line.at for line in down}), sorted({line.at for line in across})
    if min(len(xs), len(ys)) <= FEWEST or len(xs) * len(ys) > MOST_CELLS:
        return None
    # whether there is a line above each place of the grid and on the left of it
    above = [[_is_drawn(across, y, (left + right) / 2) for left, right in pairwise(xs)] for y in ys]
    before = [[_is_drawn(down, x, (top + bottom) / 2) for x in xs] for top, bottom in pairwise(ys)]
    cells: list[Cell] = []
    places: dict[tuple[int, int], Cell] = {}
    for top in range(len(ys) - 1):
        for left in range(len(xs) - 1):
            if (top, left) in places:
                continue
            right = next((end for end in range(left + 1, len(xs)) if before[top][end]), len(xs))
            bottom = next((end for end in range(top + 1, len(ys)) if above[end][left]), len(ys))
            cell = Cell(top, left, bottom, right, [])
            inner = [(row, column) for row in range(top, bottom) for column in range(left, right)]
            if not _is_closed(cell, above, before) or any(place in places for place in inner):
                return None
            places |= dict.fromkeys(inner, cell)
            cells.append(cell)
    return Grid(xs, ys, cells, places)


def _is_drawn(lines: Sequence[Stroke], at: float, place: float) -> bool:
    return any(line.at == at and line.start <= place <= line.end for line in lines)


def _is_closed(cell: Cell, above: Sequence[Sequence[bool]], before: Sequence[Sequence[bool]]) -> bool:
    """Whether there are lines all around a cell, and none in it."""
    if cell.bottom >= len(above) or cell.right >= len(before[0]):
        return False
    columns, rows = range(cell.left, cell.right), range(cell.top, cell.bottom)
    inner_rows, inner_columns = range(cell.top + 1, cell.bottom), range(cell.left + 1, cell.right)
    return (
        all(above[cell.top][column] and above[cell.bottom][column] for column in columns)
        and all(before[row][cell.left] and before[row][cell.right] for row in rows)
        and not any(above[row][column] for row in inner_rows for column in columns)
        and not any(before[row][column] for row in rows for column in inner_columns)
    )


def _table(grid: Grid) -> Table | None:
    """The table in a grid, without a title above it, or None if hardly any cells have text."""
    while grid.cells and grid.takes_row(grid.cells[0]):
        grid.cells.pop(0)
    if not grid.cells:
        return None
    first = grid.cells[0].top
    depth = _header_depth(grid, first)
    bands = [_rows(grid, number) for number in range(first, len(grid.ys) - 1)]
    header, body = list(chain(*bands[:depth])), list(chain(*bands[depth:]))
    joined = [joined_names(names) for names in zip(*header, strict=True)]
    if depth > 1 and is_header([joined, *body]):
        header = [joined]
    filled = [row for row in header + body if any(row)]
    columns = [column for column in zip(*filled, strict=True) if any(column)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if len(rows) < FEWEST or len(columns) < FEWEST:
        return None
    lines = rows_of(piece for cell in grid.cells for piece in cell.pieces)
    return table_of(rows, list(chain(*lines)), has_header=names_columns(rows, lines[0], lines[-1]))


def _header_depth(grid: Grid, first: int) -> int:
    """How many rows of the grid, from this one, name columns: below the name of a group are those of its columns."""
    top = [cell for cell in grid.cells if cell.top == first]
    if all(cell.right - cell.left == 1 for cell in top):
        return 1
    depth = max(FEWEST, *(cell.bottom - first for cell in top))
    below = [cell for cell in grid.cells if first < cell.top < first + depth and cell.pieces]
    single = {cell.left for cell in top if cell.right - cell.left == 1 and cell.pieces}
    return 1 if any(cell.left in single for cell in below) else depth


def _rows(grid: Grid, number: int) -> list[list[str]]:
    """The rows of text in a row of the grid; merged cells are in each of them."""
    cells = [cell for cell in grid.cells if cell.top <= number < cell.bottom]
    places = {id(piece): cell.left for cell in cells if cell.bottom - cell.top == 1 for piece in cell.pieces}
    lines = rows_of(piece for cell in cells for piece in cell.pieces if id(piece) in places)
    heads = [True]
    if lines:
        limits = [x - PADDING * lines[0][0].size for x in grid.xs[1:]]
        heads = band_heads([{places[id(piece)]: piece for piece in line} for line in lines], limits)
    starts = [place for place, is_head in enumerate(heads) if is_head]
    rows: list[list[str]] = []
    for start, end in pairwise([*starts, len(heads)]):
        inside = {id(piece) for piece in chain(*lines[start:end])}
        row = [""] * (len(grid.xs) - 1)
        for cell in cells:
            text = _text(piece for piece in cell.pieces if id(piece) in inside or id(piece) not in places)
            width = 1 if grid.takes_row(cell) else cell.right - cell.left
            row[cell.left : cell.left + width] = [text] * width
        rows.append(row)
    return rows


def _text(pieces: Iterable[Line]) -> str:
    """Lines of a cell, which are not joined yet."""
    return "\n".join(" ".join(piece.text for piece in row) for row in rows_of(pieces))
