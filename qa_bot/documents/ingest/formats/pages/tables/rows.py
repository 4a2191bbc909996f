"""Which lines of a table begin rows: those below drawn rules, or those farther from others than lines of a cell are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from qa_bot.documents.ingest.formats.pages.lines import Line, Rule
from qa_bot.documents.ingest.formats.pages.tables.table import Column
from qa_bot.documents.ingest.table_shape import is_value

CLOSER = 1.15  # times the smallest distance of lines; rows are farther apart
SHARED_HEIGHT = 0.25  # heights that cells beside each other have in common
ALIGNED_SHARE = 0.7
UNEVEN_SHARE = 0.3  # of rows have cells of different numbers of lines
FEWEST_ROWS = 3  # without rules
PADDING = 1.5  # heights between a text that fills its column and the next column, at most
NOTE_SIGNS = "*¹²³†‡ "
Row = list[Line]


def row_heads(lines: Sequence[Row], columns: Sequence[Column], rules: Sequence[Rule]) -> list[bool]:
    """Of each line of a table, whether a row begins with it."""
    middles = [line[0].middle for line in lines]
    ruled = [any(above < rule.y < below for rule in rules) for above, below in pairwise(middles)]
    if 2 * sum(ruled) >= len({round(rule.y) for rule in rules}) > 1:
        ends = [*(column.left for column in columns[1:]), max(rule.right for rule in rules)]
        return _with_rows_in_bands(lines, columns, ends, [True, *ruled])
    if firsts := set(map(id, first_lines(cells_of(lines, columns)))):
        return [True, *(any(id(piece) in firsts for piece in line) for line in lines[1:])]
    distances = _distances(lines, columns)
    close = [distance <= CLOSER * min(distances) for distance in distances]
    heads = [True, *(not is_close for is_close in close)]
    if any(close) and not all(close) and _most_complete(lines, columns, heads) <= 1:
        return heads
    return [True, *(columns[0].overlaps(line[0]) for line in lines[1:])]


def with_remark(heads: Sequence[bool], lines: Sequence[Row], columns: Sequence[Column]) -> list[bool]:
    """The heads, with a remark below the last row among them: its first word had room in the cell above it."""
    last = max((place for place, line in enumerate(lines) if len(line) > 1), default=len(lines) - 1)
    above = next((piece for piece in lines[last] if columns[0].overlaps(piece)), None)
    below = lines[last + 1][0] if last + 1 < len(lines) else None
    if above is None or below is None or not columns[0].overlaps(below):
        return [*heads]
    words = below.text.lstrip(NOTE_SIGNS)
    is_remark = words[:1].isupper() and _has_room(above, replace(below, text=words), below.right)
    return [*heads[: last + 1], heads[last + 1] or is_remark, *heads[last + 2 :]]


def _with_rows_in_bands(
    lines: Sequence[Row], columns: Sequence[Column], ends: Sequence[float], heads: Sequence[bool]
) -> list[bool]:
    """The beginnings of bands between rules, and of the rows in them.

    Args:
        ends: where the next columns begin, and the right edge of the table.
        heads: of each line, whether a band begins with it.
    """
    places = [place for place, is_head in enumerate(heads) if is_head]
    bands = [
        [
            {number: piece for piece in line for number, column in enumerate(columns) if column.overlaps(piece)}
            for line in lines[start:end]
        ]
        for start, end in pairwise([*places, len(lines)])
    ]
    limits = [max(column.right, end - PADDING * lines[0][0].size) for column, end in zip(columns, ends, strict=True)]
    return [is_head for band in bands for is_head in band_heads(band, limits)]


def band_heads(band: Sequence[dict[int, Line]], limits: Sequence[float]) -> list[bool]:
    """Of each line between two rules, whether a row begins with it, as between a header and a total.

    Args:
        band: the pieces of each line by the numbers of their columns.
        limits: the right edges of the columns.
    """
    first = min(min(line) for line in band)
    above: dict[int, Line] = {}
    heads: list[bool] = []
    for line in band:
        is_head = not above or (first in above and first in line and _is_row(above, line, limits))
        heads.append(is_head)
        above = line if is_head else above | line
    return heads


def _is_row(above: dict[int, Line], line: dict[int, Line], limits: Sequence[float]) -> bool:
    """Whether the cells of a line, by their columns, are not the ends of those above it."""
    shared = [(above[number], piece, limits[number]) for number, piece in line.items() if number in above]
    if len(shared) < 2:
        return False
    if any(is_value(one.text) and is_value(other.text) for one, other, _ in shared):
        return True
    return 2 * sum(_has_room(*cell) for cell in shared) > len(shared)


def _has_room(above: Line, below: Line, right: float) -> bool:
    """Whether a capitalised line's first word has room on the line above it."""
    width = (below.right - below.left) / max(1, len(below.text))
    return below.text[0].isupper() and above.right + width * (len(below.text.split()[0]) + 1) < right


def first_lines(columns: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines with which rows begin if the paragraphs of columns begin together, though their lengths differ.

    Paragraphs of successive columns of text do not, or only if all are of one length: such columns give none.
    """
    ordered = [sorted(pieces, key=lambda piece: piece.middle) for pieces in columns]
    distances = [
        below.middle - above.middle
        for pieces in ordered
        for above, below in pairwise(pieces)
        if below.top > above.middle
    ]
    pitch = min(distances, default=0.0)
    blocks = [_paragraphs(pieces, CLOSER * pitch) for pieces in ordered]
    most, *others = sorted(blocks, key=len, reverse=True) or [[]]
    if len(most) < FEWEST_ROWS or not all(len(other) >= ALIGNED_SHARE * len(most) for other in others):
        return []
    uneven = 0
    for block in (block for other in others for block in other):
        beside = [one for one in most if abs(one[0].middle - block[0].middle) < (1 - SHARED_HEIGHT) * pitch]
        if not beside:
            return []
        uneven += len(beside[0]) != len(block)
    return [block[0] for block in most] if uneven >= max(2, UNEVEN_SHARE * len(most)) else []


def _paragraphs(pieces: Sequence[Line], most: float) -> list[list[Line]]:
    """Successive lines that are not farther apart than this."""
    blocks: list[list[Line]] = []
    for piece in pieces:
        if blocks and piece.middle - blocks[-1][-1].middle <= most:
            blocks[-1].append(piece)
        else:
            blocks.append([piece])
    return blocks


def _distances(lines: Sequence[Row], columns: Sequence[Column]) -> list[float]:
    """Of each line of the table but the first, how far it is below the last one of the same column."""
    distances: list[float] = []
    last: dict[int, float] = {}
    for line in lines:
        places = {
            number: piece.middle for piece in line for number, column in enumerate(columns) if column.overlaps(piece)
        }
        distances.append(min((middle - last[number] for number, middle in places.items() if number in last), default=0))
        last |= places
    return distances[1:]


def _most_complete(lines: Sequence[Row], columns: Sequence[Column], heads: Sequence[bool]) -> int:
    """The most lines of one row that have all cells: a row whose cells have their ends side by side has one, too."""
    numbers = accumulate(heads)
    complete = Counter(number for number, line in zip(numbers, lines, strict=True) if len(line) == len(columns))
    return max(complete.values(), default=0)


def cells_of(lines: Sequence[Row], columns: Sequence[Column]) -> list[list[Line]]:
    """The pieces of each column."""
    return [[piece for line in lines for piece in line if column.overlaps(piece)] for column in columns]
