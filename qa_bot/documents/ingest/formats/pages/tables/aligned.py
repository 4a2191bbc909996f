"""Finds tables on a page: rows whose pieces are aligned in columns that white space divides.

Lines of one cell are put together: between drawn rules, or where lines are closer to each other than rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from qa_bot.documents.ingest.formats.pages.lines import Line, Rule
from qa_bot.documents.ingest.formats.pages.tables.rows import (
    ALIGNED_SHARE,
    FEWEST_ROWS,
    SHARED_HEIGHT,
    cells_of,
    first_lines,
    row_heads,
    with_remark,
)
from qa_bot.documents.ingest.formats.pages.tables.table import Column, Table, names_columns, table_of
from qa_bot.documents.ingest.formats.pages.typography import LARGER

ROW_GAP = 2.2  # heights; rows farther away belong to something else
CELL_LINE_GAP = 0.6  # heights; lines of one cell are closer
ALIGNED = 3.0  # points between the edges or centres of a column's cells
LONG_RUN = 100  # rows
MOST_ROWS = 1000  # of a page; a longer table is several
MOST_CELL_LINES = 4  # without rules, if there are three columns
HEADING_SIZE = 1.3  # times the size of the text in the columns that headings are above
PROSE_WORDS = 5.0  # words a cell, and
PROSE_FILL = 0.8  # share of its column's width, from which a column is text; two of them are no table


@dataclass(slots=True)
class _Run:
    """Successive rows that fit one set of columns."""

    rows: list[list[Line]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)  # from left to right

    def takes(self, row: Sequence[Line], rules: Sequence[Rule]) -> bool:
        """Add the row if it fits."""
        if not self.rows and len(row) < 2:
            return False
        targets = [[column for column in self.columns if column.overlaps(piece)] for piece in row]
        if self.rows and not (self._is_near(row, rules) and self._fits(row, targets)):
            return False
        columns = [Column(column.left, column.right) for column in self.columns]
        for piece, hits in zip(row, targets, strict=True):
            if hits:
                column = columns[self.columns.index(hits[0])]
                column.left, column.right = min(column.left, piece.left), max(column.right, piece.right)
            else:
                columns.append(Column(piece.left, piece.right))
        columns.sort(key=lambda column: column.left)
        if any(second.left < first.right for first, second in pairwise(columns)):
            return False
        self.columns = columns
        self.rows.append(list(row))
        return True

    def _is_near(self, row: Sequence[Line], rules: Sequence[Rule]) -> bool:
        bottom = max(piece.bottom for piece in self.rows[-1])
        top = min(piece.top for piece in row)
        above = [rule for rule in rules if bottom - 2 <= rule.y <= top + 2 and rule.left < row[0].right]
        below = [rule for rule in rules if rule.y > top and rule.left < row[0].right]
        is_ruled = bool(above) and (bool(below) or len(row) > 1)
        return top - bottom <= (CELL_LINE_GAP if len(row) == 1 and not is_ruled else ROW_GAP) * row[0].size

    def _fits(self, row: Sequence[Line], targets: Sequence[Sequence[Column]]) -> bool:
        largest = max(piece.size for earlier in self.rows for piece in earlier)
        if len(row) == 1 and row[0].size >= LARGER * largest:  # a heading below the table
            return False
        is_mono = all(piece.is_mono for piece in row) and not all(piece.is_mono for piece in self.rows[0])
        return not is_mono and any(targets) and all(len(hits) <= 1 for hits in targets)


def split_tables(rows: Sequence[list[Line]], rules: Sequence[Rule] = ()) -> tuple[list[Table], list[list[Line]]]:
    """The tables among the rows of a page, and the other rows."""
    tables: list[Table] = []
    rest: list[list[Line]] = []
    start = 0
    groups = _side_by_side(rows)
    while start < len(groups):
        run = _Run()
        for group in groups[start : start + MOST_ROWS]:
            if not run.takes(sorted(chain(*group), key=lambda piece: piece.left), rules):
                break
        inside = [rule for rule in rules if run.rows and _is_inside(rule, run)]
        has_headings = not inside and _has_headings(run)
        if run.rows and not has_headings and _is_table(run, inside):
            tables.append(_table(run, inside))
            start += len(run.rows)
        else:
            # long runs that are no table, such as columns of text, are not searched again from each of their rows
            count = len(run.rows) // 2 if len(run.rows) > LONG_RUN else 1
            count = len(run.rows) if has_headings else count
            rest += chain(*groups[start : start + count])
            start += count
    return tables, rest


def _side_by_side(rows: Sequence[list[Line]]) -> list[list[list[Line]]]:
    """Groups of rows that are beside each other, though not on one base line, as cells of different fonts are."""
    groups: list[list[list[Line]]] = []
    for row in rows:
        if groups and all(_is_beside(piece, other) for piece in row for other in chain(*groups[-1])):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _is_beside(one: Line, other: Line) -> bool:
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    is_apart = one.right < other.left or other.right < one.left
    return is_apart and overlap > SHARED_HEIGHT * min(one.bottom - one.top, other.bottom - other.top)


def _has_headings(run: _Run) -> bool:
    """Whether the first row is much larger than all others: headings of columns of text."""
    sizes = [[piece.size for piece in row] for row in run.rows]
    return len(sizes) > 1 and min(sizes[0]) >= HEADING_SIZE * max(chain(*sizes[1:]))


def _is_inside(rule: Rule, run: _Run) -> bool:
    """Whether the rule divides rows of the run."""
    crosses = rule.left < run.columns[-1].right and rule.right > run.columns[0].left
    return crosses and run.rows[0][0].middle < rule.y < run.rows[-1][0].middle


def _is_table(run: _Run, rules: Sequence[Rule]) -> bool:
    full = [row for row in run.rows if len(row) > 1]
    if len(full) < (2 if rules else FEWEST_ROWS):
        return False
    cells = cells_of(run.rows, run.columns)
    is_text = _cell_lines(run) * len(full) < len(run.rows) or _is_prose(run.columns, cells)
    if not rules and is_text and not first_lines(cells):
        return False
    several = [column for column in cells if len(column) > 1]
    aligned = sum(_are_aligned(column) for column in several)
    return bool(several) and aligned >= (ALIGNED_SHARE if rules else 1) * len(several)


def _cell_lines(run: _Run) -> int:
    """How many lines the cells may have on the average in a table without rules."""
    return MOST_CELL_LINES if len(run.columns) > 2 else 2


def _is_prose(columns: Sequence[Column], cells: Sequence[Sequence[Line]]) -> bool:
    """Whether at least two columns are filled with text."""
    return sum(_is_filled(column, pieces) for column, pieces in zip(columns, cells, strict=True)) > 1


def _is_filled(column: Column, pieces: Sequence[Line]) -> bool:
    words = sum(len(piece.text.split()) for piece in pieces) / len(pieces)
    fills = sorted((piece.right - piece.left) / max(1.0, column.right - column.left) for piece in pieces)
    return words >= PROSE_WORDS and fills[len(fills) // 2] >= PROSE_FILL


def _are_aligned(pieces: Sequence[Line]) -> bool:
    """Whether most pieces share a left edge, a right edge or a centre."""
    for edges in (
        [piece.left for piece in pieces],
        [piece.right for piece in pieces],
        [(piece.left + piece.right) / 2 for piece in pieces],
    ):
        middle = sorted(edges)[len(edges) // 2]
        if sum(abs(edge - middle) <= ALIGNED for edge in edges) >= ALIGNED_SHARE * len(edges):
            return True
    return False


def _table(run: _Run, rules: Sequence[Rule]) -> Table:
    rows: list[list[str]] = []
    heads = with_remark(row_heads(run.rows, run.columns, rules), run.rows, run.columns)
    for row, is_head in zip(run.rows, heads, strict=True):
        cells = [" ".join(piece.text for piece in row if column.overlaps(piece)) for column in run.columns]
        if is_head:
            rows.append(cells)
        else:
            rows[-1] = [f"{above}\n{below}".strip() for above, below in zip(rows[-1], cells, strict=True)]
    has_header = names_columns(rows, run.rows[0], run.rows[-1])
    return table_of(rows, [piece for row in run.rows for piece in row], has_header=has_header)
