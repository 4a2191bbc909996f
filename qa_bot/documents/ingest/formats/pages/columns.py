"""Reading order: the columns of a page, one after the other, between the lines that span them."""

from __future__ import annotations

from collections.abc import Sequence

from qa_bot.documents.ingest.formats.pages.lines import Line
from qa_bot.documents.ingest.formats.pages.tables import Table

Box = Line | Table
GUTTER = 6.0  # points between columns
FEWEST = 3  # lines in a column
SPANNING_SHARE = 0.4
MOST_COLUMNS = 5
MOST_BOXES = 2000  # of a page; the search for columns takes the square of their number


def regions(boxes: Sequence[Box], depth: int = 0) -> list[list[Box]]:
    """The boxes of each region (a column, or what spans columns) from top to bottom, regions in reading order."""
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


def _band(boxes: Sequence[Box], gutter: float, depth: int) -> list[list[Box]]:
    left = [box for box in boxes if box.right <= gutter]
    right = [box for box in boxes if box.right > gutter]
    return regions(left, depth + 1) + regions(right, depth + 1)


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
