"""Packs pieces into passages: as full as the limit allows, cut where it hurts least.

Of all ways to cut a section, the one with the lowest cost is taken: 1 a passage, the square of the unused share of its
room, and the cost of the piece that it begins with. This is the optimal line breaking of Knuth and Plass (1981), with
passages for lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from qa_bot.documents.cutting.pieces import Piece

AT_ONCE = 2000
"""Pieces; a longer section is packed in portions, so that memory does not grow with it."""


def packed(pieces: Iterable[Piece], limit: int) -> Iterator[Sequence[Piece]]:
    """The pieces of each passage; a passage over the limit is a single piece."""
    stream = iter(pieces)
    while portion := list(islice(stream, AT_ONCE)):
        starts = _starts(portion, limit)
        for start, end in zip(starts, [*starts[1:], len(portion)], strict=True):
            yield portion[start:end]


def _starts(pieces: Sequence[Piece], limit: int) -> list[int]:
    """Indices of the first pieces of the passages, by dynamic programming from the end."""
    costs = [0.0] * (len(pieces) + 1)  # of the best way to cut the pieces from this one on
    following = [0] * len(pieces)
    for first in reversed(range(len(pieces))):
        costs[first] = float("inf")
        for last in range(first, len(pieces)):
            size = len(pieces[first].prefix) + pieces[last].end - pieces[first].start
            if size > limit and last > first:
                break
            cost = _cost(pieces[first], size, limit) + costs[last + 1]
            if cost <= costs[first]:
                costs[first], following[first] = cost, last + 1
    starts = [0]
    while (start := following[starts[-1]]) < len(pieces):
        starts.append(start)
    return starts


def _cost(first: Piece, size: int, limit: int) -> float:
    unused = max(0, limit - size) / limit
    return 1 + unused * unused + first.cost
