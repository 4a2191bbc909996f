"""The order in which the shapes of a slide are read: mostly that of the file, which is that of their making."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.names import child, value, whole_number

TOLERANCE = 0.25  # of the smaller of two boxes that still count as beside or above each other
SIMILAR = 1.5  # the height of a box as a multiple of the height of another one in its row


class Box(NamedTuple):
    """The place of a shape on its slide."""

    left: int
    top: int
    right: int
    bottom: int


def in_reading_order(shapes: Iterable[Element]) -> list[Element]:
    """The shapes of a slide or group in the order of reading.

    It is that of the file, but a text box is before the tables, charts and diagrams that it is above. Text boxes that
    follow each other and are in one row are read from left to right. Boxes and rows of which each is above the next are
    read from top to bottom; boxes in columns are not, since some are beside each other.
    """
    ordered: list[Element] = []
    for shape in shapes:
        frames = enumerate(ordered) if shape.tag == "p:sp" else ()
        below = (place for place, frame in frames if frame.tag == "p:graphicFrame" and is_above(shape, frame))
        ordered.insert(next(below, len(ordered)), shape)
    free = [(place, shape, box) for place, shape in enumerate(ordered) if (box := _free_box(shape)) is not None]
    sorted_shapes = chain.from_iterable(_sorted_rows([(shape, box) for _, shape, box in free]))
    for (place, _, _), (shape, _) in zip(free, sorted_shapes, strict=True):
        ordered[place] = shape
    return ordered


def is_above(shape: Element, frame: Element) -> bool:
    """Whether a shape ends above the upper edge of a table, chart or diagram; unknown for inherited places."""
    box, other = _box(child(shape, "p:spPr", "a:xfrm")), _box(child(frame, "p:xfrm"))
    return box is not None and other is not None and box.bottom <= other.top


_Placed = tuple[Element, Box]


def _sorted_rows(boxes: Sequence[_Placed]) -> list[list[_Placed]]:
    """Boxes in rows, each from left to right, or from right to left if its text is; rows in a column are sorted."""
    rows: list[list[_Placed]] = []
    for shape, box in boxes:
        if rows and all(_is_beside(box, other) for _, other in rows[-1]):
            rows[-1].append((shape, box))
        else:
            rows.append([(shape, box)])
    for row in rows:
        is_leftward = all(_is_leftward(shape) for shape, _ in row)
        row.sort(key=lambda placed: -placed[1].right if is_leftward else placed[1].left)
    downward = sorted(rows, key=lambda row: row[0][1].top)
    is_column = all(_are_apart(_extent(row), _extent(below)) for row, below in pairwise(downward))
    return downward if is_column else rows


def _extent(row: Sequence[_Placed]) -> tuple[int, int]:
    return min(box.top for _, box in row), max(box.bottom for _, box in row)


def _are_apart(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether a stretch ends before another one begins, or not far behind."""
    return first[1] - second[0] <= TOLERANCE * min(first[1] - first[0], second[1] - second[0])


def _is_beside(box: Box, other: Box) -> bool:
    heights = sorted([box.bottom - box.top, other.bottom - other.top])
    left, right = sorted([(box.left, box.right), (other.left, other.right)])
    is_level = abs(box.top - other.top) <= TOLERANCE * heights[0] and heights[1] <= SIMILAR * heights[0]
    return is_level and _are_apart(left, right)


def _free_box(shape: Element) -> Box | None:
    """The place of a text box; None for other shapes, and for placeholders, which are in the order of their layout."""
    is_text = shape.tag == "p:sp" and any(node.text for node in shape.iter("a:t"))
    is_free = is_text and next(shape.iter("p:ph"), None) is None
    return _box(child(shape, "p:spPr", "a:xfrm")) if is_free else None


def _box(place: Element | None) -> Box | None:
    if place is None:
        return None
    left, top = _length(place, "a:off", "x"), _length(place, "a:off", "y")
    return Box(left, top, left + _length(place, "a:ext", "cx"), top + _length(place, "a:ext", "cy"))


def _length(place: Element, name: str, attribute: str) -> int:
    return whole_number(value(place, name, attribute=attribute))


def _is_leftward(shape: Element) -> bool:
    properties = next(shape.iter("a:pPr"), None)
    return properties is not None and properties.get("rtl") in {"1", "true"}
