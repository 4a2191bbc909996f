"""Reading order: the columns of a page, one after the other, between the lines that span them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from qa_bot.documents.ingest.formats.pages.lines import Line, Rule, joined, rows_of
from qa_bot.documents.ingest.formats.pages.tables.rows import first_lines
from qa_bot.documents.ingest.formats.pages.tables.table import Table

Row = list[Line]
GUTTER = 6.0  # points between columns
FEWEST = 3  # lines in a column
SPANNING_SHARE = 0.4
MOST_COLUMNS = 5
MOST_BOXES = 2000  # of a page; the search for columns takes the square of their number
PROSE_WORDS = 5  # of a line of text
PROSE_FILL = 0.7  # share of its column's width that a line of text takes
FEWEST_PROSE = 4  # lines of text in a column
TABLE_RULES = 3  # across a gutter, from which it divides a table's cells
TABLE_ROWS = 3  # of short texts on both sides of a gutter
MOST_LINES = 500  # of a page of text
SAME_HEIGHT = 2.0  # points between the parts of one drawn line
FRAME_MARGIN = 10.0  # points between a frame and the text beside it; the next cell of a table is closer
MOST_RULES = 400  # of a page on which frames are searched for
PARAGRAPH_GAP = 0.5  # heights above a paragraph


@dataclass(slots=True)
class Frame:
    """What is in a drawn frame, or on a ground of another colour, with other text beside it."""

    boxes: Sequence[Line | Table]
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


Box = Line | Table | Frame


def regions(boxes: Sequence[Box]) -> list[list[Line | Table]]:
    """The boxes of each region (a column, or what spans columns) from top to bottom, regions in reading order.

    A frame is a region of its column, after the paragraph beside it.
    """
    ordered: list[list[Line | Table]] = []
    for region in _regions(boxes, 0):
        open_frames: list[Frame] = []
        part: list[Line | Table] = []
        for box in region:
            if isinstance(box, Frame):
                open_frames.append(box)
                continue
            if open_frames and box.top > open_frames[0].bottom and _begins_paragraph(box, part):
                ordered += [part, *(list(frame.boxes) for frame in open_frames)]
                open_frames, part = [], []
            part.append(box)
        ordered += [part, *(list(frame.boxes) for frame in open_frames)]
    return [part for part in ordered if part]


def _begins_paragraph(box: Line | Table, before: Sequence[Line | Table]) -> bool:
    return not before or isinstance(box, Table) or box.top - before[-1].bottom > PARAGRAPH_GAP * box.size


def _regions(boxes: Sequence[Box], depth: int) -> list[list[Box]]:
    boxes = sorted(boxes, key=lambda box: (box.top, box.left))
    gutter = _gutter(boxes) if depth < MOST_COLUMNS and len(boxes) <= MOST_BOXES else None
    if gutter is None:
        return [boxes] if boxes else []
    ordered: list[list[Box]] = []
    band: list[Box] = []
    for box in boxes:
        if _crosses(box, gutter):
            ordered += _band(band, gutter, depth)
            band = []
            if ordered and len(ordered[-1]) == 1 and _crosses(ordered[-1][0], gutter):
                ordered[-1].append(box)
            else:
                ordered.append([box])
        else:
            band.append(box)
    return ordered + _band(band, gutter, depth)


def prose_parts(rows: Sequence[Row], rules: Sequence[Rule], depth: int = 0) -> list[list[Row]]:
    """The rows of a page in parts: those of each column of prose, and those that are beside or across no such column.

    A table is in one of them: one column's table is not mixed with the text of the other.
    """
    lines = [line for row in rows for line in joined(row)]
    gutter = _gutter(lines) if depth < MOST_COLUMNS and len(rows) < len(lines) <= MOST_LINES else None
    if gutter is None:
        return [list(rows)]
    whole = _whole_rows(rows, rules, gutter)
    divided = [row for place, row in enumerate(rows) if place not in whole]
    sides = _sides(divided, gutter)
    if not all(map(_is_prose, sides)) or first_lines([list(chain(*side)) for side in sides]):
        return [list(rows)]
    parts: list[list[Row]] = []
    for is_whole, places in groupby(range(len(rows)), key=whole.__contains__):
        band = [rows[place] for place in places]
        if is_whole:
            parts.append(band)
        else:
            parts += [part for side in _sides(band, gutter) for part in prose_parts(side, rules, depth + 1)]
    return parts


def _sides(rows: Sequence[Row], gutter: float) -> tuple[list[Row], list[Row]]:
    """The rows on the left and on the right."""
    pieces = [piece for row in rows for piece in row]
    left = [piece for piece in pieces if piece.left < gutter]
    return rows_of(left), rows_of(piece for piece in pieces if piece.left >= gutter)


def _whole_rows(rows: Sequence[Row], rules: Sequence[Rule], gutter: float) -> set[int]:
    """The places of rows that the gutter does not divide: a title over both columns, the rows of a wide table."""
    heights = _drawn_across(rules, gutter)
    whole = {place for place, row in enumerate(rows) if any(_crosses(piece, gutter) for piece in row)}
    if len(heights) >= TABLE_RULES:
        whole |= {place for place, row in enumerate(rows) if heights[0] < row[0].middle < heights[-1]}
    for is_tabular, places in groupby(range(len(rows)), key=lambda place: _is_tabular(rows[place], gutter)):
        run = list(places)
        if is_tabular and len(run) >= TABLE_ROWS:
            whole.update(run)
    return whole


def _is_tabular(row: Row, gutter: float) -> bool:
    """Whether a row has short texts on both sides."""
    is_short = all(len(piece.text.split()) < PROSE_WORDS for piece in row)
    return is_short and row[0].left < gutter < row[-1].right


def _drawn_across(rules: Sequence[Rule], gutter: float) -> list[float]:
    """The heights of drawn lines that cross the gutter, from top to bottom; a line may be drawn in parts."""
    left = [rule for rule in rules if rule.left < gutter <= rule.right + SAME_HEIGHT]
    right = [rule for rule in rules if rule.left - SAME_HEIGHT <= gutter < rule.right]
    return sorted({round(one.y) for one in left for other in right if abs(one.y - other.y) <= SAME_HEIGHT})


def _is_prose(rows: Sequence[Row]) -> bool:
    """Whether most of a column is text that goes on from line to line."""
    lines = [line for row in rows for line in joined(row)]
    if len(lines) < FEWEST_PROSE:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    prose = [
        len(line.text)
        for line in lines
        if len(line.text.split()) >= PROSE_WORDS and line.right - line.left >= PROSE_FILL * width
    ]
    return len(prose) >= FEWEST_PROSE and 2 * sum(prose) >= sum(len(line.text) for line in lines)


def framed(rows: Sequence[Row], rules: Sequence[Rule]) -> tuple[list[list[Row]], list[Row]]:
    """The rows in each frame that has text beside it, and all other rows."""
    edges: defaultdict[tuple[int, int], list[Rule]] = defaultdict(list)
    for rule in rules if len(rules) <= MOST_RULES else ():
        edges[round(rule.left), round(rule.right)].append(rule)
    inner: list[list[Row]] = []
    rest = list(rows)
    for drawn in edges.values():
        top, bottom = min(rule.y for rule in drawn), max(rule.y for rule in drawn)
        beside = [piece for row in rest for piece in row if top < piece.middle < bottom]
        inside = [piece for piece in beside if drawn[0].left - 1 <= piece.left and piece.right <= drawn[0].right + 1]
        places = set(map(id, inside))
        outside = [piece for piece in beside if id(piece) not in places]
        if outside and len(rows_of(inside)) > 1 and _is_frame(drawn, outside, rules):
            inner.append(rows_of(inside))
            rest = [left for row in rest if (left := [piece for piece in row if id(piece) not in places])]
    return inner, rest


def _is_frame(drawn: Sequence[Rule], outside: Sequence[Line], rules: Sequence[Rule]) -> bool:
    """Whether the text beside a box is apart from it, and no other line touches it: it is no column of a table."""
    left, right = drawn[0].left, drawn[0].right
    top, bottom = min(rule.y for rule in drawn) - SAME_HEIGHT, max(rule.y for rule in drawn) + SAME_HEIGHT
    is_apart = all(piece.right + FRAME_MARGIN <= left or piece.left - FRAME_MARGIN >= right for piece in outside)
    return is_apart and not any(
        top <= rule.y <= bottom
        and rule.left <= right + SAME_HEIGHT
        and rule.right >= left - SAME_HEIGHT
        and not (left - 1 <= rule.left and rule.right <= right + 1)
        for rule in rules
    )


def _band(boxes: Sequence[Box], gutter: float, depth: int) -> list[list[Box]]:
    left = [box for box in boxes if box.right <= gutter]
    right = [box for box in boxes if box.right > gutter]
    return _regions(left, depth + 1) + _regions(right, depth + 1)


def _crosses(box: Box, gutter: float) -> bool:
    return box.left < gutter < box.right


def _gutter(boxes: Sequence[Box]) -> float | None:
    """The x that divides columns with the fewest boxes across, or None if there is one column."""
    best: tuple[int, float] | None = None
    for x in sorted({box.left for box in boxes}):
        left = [box for box in boxes if box.right <= x - GUTTER]
        right = [box for box in boxes if box.left >= x]
        across = len(boxes) - len(left) - len(right)
        is_valid = (
            len(left) >= FEWEST
            and len(right) >= FEWEST
            and across <= SPANNING_SHARE * len(boxes)
            and _side_by_side(left, right) >= FEWEST
        )
        if is_valid and (best is None or across < best[0]):
            best = across, x - GUTTER / 2
    return best[1] if best else None


def _side_by_side(left: Sequence[Box], right: Sequence[Box]) -> int:
    """How many boxes of the smaller side are at the height of the other side."""
    smaller, larger = sorted((left, right), key=len)
    top, bottom = min(box.top for box in larger), max(box.bottom for box in larger)
    return sum(top <= box.middle <= bottom for box in smaller)
