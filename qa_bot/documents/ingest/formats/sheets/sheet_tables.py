"""Finds the tables of a sheet: blocks of rows between empty ones, their captions and header rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from typing import NamedTuple

from qa_bot.documents.ingest import table_shape
from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.formats.sheets.decimals import add_cents
from qa_bot.documents.ingest.table_shape import joined_names

HEADER_SEARCH = 10  # rows of a block among which the header is looked for
MOST_FILLED = 1_000_000  # cells that merged ones are copied to
TITLE_ROWS = 2  # of one cell each, above a table: a title and what is said of it
LABELLED_ROWS = 10
LABELLED = re.compile(r"[^\W\d_][^:\n]{0,40}:\s+\S")
RECENT = 5  # headers that a table without one may continue
BESIDE = 2  # columns that a table beside another one has at least
FAR = 2  # empty columns between tables

Rows = dict[int, dict[int, str]]
"""Row from 1 → column from 1 → text; empty cells are left out."""


class Merge(NamedTuple):
    """Corners of merged cells, both included."""

    top: int
    left: int
    bottom: int
    right: int


class Comment(NamedTuple):
    """What its author says about a cell ("B2") of a row."""

    cell: str
    row: int
    text: str


@dataclass
class Sheet:
    """A sheet's name, cells, merged cells, comments on cells, and texts beside the cells; rows and columns from 1."""

    name: str
    rows: Rows
    merges: list[Merge] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_hidden: bool = False
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Table:
    """A table of a sheet: lines above it, the header (empty if there is none), rows, and their first row's number.

    `columns` are those of the sheet.
    """

    captions: list[str]
    header: list[str]
    rows: list[list[str]]
    first_row: int
    columns: Sequence[int] = ()


class TooWideError(LimitError):
    """The cells of a sheet are scattered, so that its table would be mostly empty."""


def tables_of(sheet: Sheet, *, limit: int) -> Iterator[Table]:
    """The tables of a sheet in order; one without a header continues the one before if it has its columns.

    Raises TooWideError if the cells of a table, empty ones too, are more than `limit`.
    """
    fill_merged(sheet)
    headed: list[_Headed] = []  # the last one first
    has_title = False
    blocks = list(_blocks(sheet.rows))
    for numbers, following in zip_longest(blocks, blocks[1:]):
        for columns in _column_groups(sheet.rows, numbers):
            _check_width(sheet, numbers, columns, limit)
            grid = [[sheet.rows[number].get(column, "") for column in columns] for number in numbers]
            is_above = bool(following) and len(_columns(sheet.rows, following)) > 1
            is_title = len(columns) == 1 and is_above and _may_be_title([row[0] for row in grid])
            table = _table(grid, numbers, is_title=is_title)
            if not has_title and table.header and table.first_row == numbers[0] + 1:
                table = _continued(table, grid, columns, headed)
            if not table.header and len(columns) > 1:
                table = replace(table, header=_names_above(columns, len(table.rows), headed))
            elif table.header:
                headed.insert(0, _Headed(dict(zip(columns, table.header, strict=True)), table.rows))
            has_title = is_title
            yield replace(table, columns=columns)


def _may_be_title(cells: Sequence[str]) -> bool:
    """Whether cells below each other say what a table is about: few, or each with a label ("Created: 2 May")."""
    return len(cells) <= TITLE_ROWS or (len(cells) <= LABELLED_ROWS and all(map(LABELLED.match, cells)))


class _Headed(NamedTuple):
    """A table with a header, whose names are by column."""

    names: dict[int, str]
    rows: list[list[str]]


def _check_width(sheet: Sheet, numbers: Sequence[int], columns: Sequence[int], limit: int) -> None:
    if len(columns) * len(numbers) > limit:
        raise TooWideError(
            f"Expected tables with at most {limit:,} cells, but got one of {len(numbers):,} rows and "
            f"{len(columns):,} columns in the sheet {sheet.name!r}; remove stray cells, or raise "
            "--max-record-bytes."
        )


def _continued(table: Table, grid: list[list[str]], columns: Sequence[int], headed: Sequence[_Headed]) -> Table:
    """The table, or its rows below the header of the one above if its first row is only a row after an empty one."""
    above = next((one for one in headed[:RECENT] if one.names.keys() & {*columns}), None)
    if above is None or [*above.names] != [*columns] or len(columns) < BESIDE or [*above.names.values()] == grid[0]:
        return table
    if not table_shape.goes_on(grid, above.rows):
        return table
    header = [*above.names.values()]
    add_cents(header, grid)
    return Table([], header, grid, table.first_row - 1)


def _names_above(columns: Sequence[int], rows: int, headed: Sequence[_Headed]) -> list[str]:
    """The names of a table above with these columns, for several rows also with the same last one; else none."""
    for above in headed[:RECENT]:
        if above.names.keys() >= {*columns} and (rows == 1 or max(above.names) == columns[-1]):
            return [above.names[column] for column in columns]
    return []


def fill_merged(sheet: Sheet) -> None:
    """Copies the text of merged cells to all of them, except a title that has its row for itself."""
    numbers = sorted(sheet.rows)
    last_column = max((max(row) for row in sheet.rows.values()), default=0)
    left = MOST_FILLED
    for merge in sheet.merges:
        first = sheet.rows.get(merge.top, {})
        text = first.get(merge.left, "")
        right = merge.left if len(first) == 1 else min(merge.right, last_column)
        covered = numbers[bisect_left(numbers, merge.top) : bisect_right(numbers, merge.bottom)]
        left -= len(covered) * max(1, right - merge.left + 1)
        if text and left > 0:
            for number in covered:
                for column in range(merge.left, right + 1):
                    sheet.rows[number].setdefault(column, text)


def _blocks(rows: Mapping[int, Mapping[int, str]]) -> Iterator[list[int]]:
    """Numbers of rows without an empty row between them."""
    block: list[int] = []
    for number in sorted(rows):
        if block and number != block[-1] + 1:
            yield block
            block = []
        block.append(number)
    if block:
        yield block


def _columns(rows: Mapping[int, Mapping[int, str]], numbers: Sequence[int]) -> list[int]:
    return sorted({column for number in numbers for column in rows[number]})


def _column_groups(rows: Mapping[int, Mapping[int, str]], numbers: Sequence[int]) -> list[list[int]]:
    """The columns of a block, divided at empty ones if tables are beside each other: far apart, or with headers."""
    used = _columns(rows, numbers)
    groups: list[list[int]] = []
    for column in used:
        if groups and column == groups[-1][-1] + 1:
            groups[-1].append(column)
        else:
            groups.append([column])
    grids = [[[rows[number].get(column, "") for column in group] for number in numbers[:20]] for group in groups]
    are_apart = all(right[0] - left[-1] > FAR for left, right in pairwise(groups))
    are_tables = len(groups) > 1 and all(
        len(group) >= BESIDE and (are_apart or (all(grid[0]) and table_shape.header_rows(grid)))
        for group, grid in zip(groups, grids, strict=True)
    )
    return groups if are_tables else [used]


def _table(grid: list[list[str]], numbers: Sequence[int], *, is_title: bool) -> Table:
    """The table of a block; lines above the header, or all of a title, become captions."""
    width = len(grid[0])
    start = 0
    if is_title:
        start = len(grid)
    while width > 1 and start < len(grid) - 1 and _filled(grid[start]) == 1 < _widest(grid[start:]):
        start += 1
    header_rows = 0
    for row in range(start, min(start + HEADER_SEARCH, len(grid))):
        header_rows = table_shape.header_rows(grid[row:])
        if header_rows:
            start = row
            break
        if 2 * _filled(grid[row]) > width:
            break
    captions = [": ".join(filter(None, (cell.rstrip(": ") for cell in row))) for row in grid[:start]]
    header = (
        [joined_names(names) for names in zip(*grid[start : start + header_rows], strict=True)] if header_rows else []
    )
    body = start + header_rows
    rows = grid[body:]
    while rows and not any(rows[-1]):  # a longer table is beside it
        rows.pop()
    add_cents(header, rows)
    return Table(captions, header, rows, numbers[body] if body < len(numbers) else numbers[-1] + 1)


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _widest(grid: Sequence[Sequence[str]]) -> int:
    return max(map(_filled, grid[:HEADER_SEARCH]))
