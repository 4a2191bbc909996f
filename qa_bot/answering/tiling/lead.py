"""The lead: the sentences, items or rows of a passage that answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_bot.answering.tiling.opinions import Sentences, Tile, Tiling, cut
from qa_core.types import Candidate, FloatArray, Passage, Span

WIDTH = 300
"""Characters of a lead: what a reader sees first."""
GAP = "\n\n"
NEAR_BEST = 0.75
"""A second passage must score more than this share of the best, or it is about something else."""
CONSIDERED = 20
"""Candidates among which the second passage is looked for."""


def lead_of(passage: Passage, units: Sequence[Span], scores: FloatArray, *, width: int = WIDTH) -> Span | None:
    """The best unit, grown towards its better neighbour while the stretch has at most `width` characters.

    Steps and code are not torn apart: a lead among them begins with the first.

    Args:
        units: spans of the passage's text, in order.
        scores: of each unit, (U,).
    """
    if not units:
        return None
    first = last = int(np.argmax(scores))
    while True:
        left = scores[first - 1] if first > 0 and _fits(units, first - 1, last, width) else -np.inf
        right = scores[last + 1] if last + 1 < len(units) and _fits(units, first, last + 1, width) else -np.inf
        if max(left, right) == -np.inf:
            break
        if right >= left:
            last += 1
        else:
            first -= 1
    if passage.place.kind in {"steps", "code"}:
        first = 0
    return units[first][0], units[last][1]


def _fits(units: Sequence[Span], first: int, last: int, width: int) -> bool:
    return units[last][1] - units[first][0] <= width


def within_one(lead: Span | None, spans: Sequence[Span]) -> Span | None:
    """The part of a lead inside the first of the sources' spans that it touches; None if it touches none."""
    if lead is None:
        return None
    parts = ((max(lead[0], start), min(lead[1], end)) for start, end in spans)
    return next(((start, end) for start, end in parts if start < end), None)


def tile_leads(candidates: Sequence[Candidate], *, limit: int, sentences: Sentences) -> Tiling:
    """The best passage from its lead on, then the next that scores nearly as high, fits and is not more out of date.

    A passage that answers its title as a question, or that the owner wrote, is the whole answer.
    """
    if not candidates:
        return Tiling("", ())
    best = candidates[0]
    text, tile, lead = _first(best, limit, sentences)
    if tile is None:
        return Tiling("", ())
    tiles = [tile]
    is_alone = lead is None or best.signals.owner_answer
    for candidate in () if is_alone else candidates[1:CONSIDERED]:
        passage = candidate.passage
        is_older = passage.source.details.archived > best.passage.source.details.archived
        is_near = candidate.signals.lead is not None and candidate.score > NEAR_BEST * best.score
        if is_near and not is_older and len(text) + len(GAP) + len(passage.text) <= limit:
            text += GAP
            tiles.append(Tile(candidate, (len(text), len(text) + len(passage.text)), (0, len(passage.text))))
            text += passage.text
            break
    return Tiling(text, tuple(tiles), lead)


def _first(candidate: Candidate, limit: int, sentences: Sentences) -> tuple[str, Tile | None, Span | None]:
    """The text of the first passage from its lead on, its tile, and the lead's part of the text.

    If the lead is in a table, the header precedes it.
    """
    passage, lead = candidate.passage.text, candidate.signals.lead
    start = 0 if lead is None or lead[1] <= WIDTH else lead[0]
    header = passage[: _header_end(passage)] if start and candidate.passage.place.kind == "table" else ""
    stretch = cut(passage[start:], max(1, limit - len(header)), sentences, may_split=True)
    if stretch is None:
        return "", None, None
    begin, end = start + stretch[0], start + stretch[1]
    tile = Tile(candidate, (len(header), len(header) + end - begin), (begin, end))
    shift = len(header) - begin
    part = None if lead is None else (max(lead[0], begin) + shift, min(lead[1], end) + shift)
    return header + passage[begin:end], tile, part


def _header_end(text: str) -> int:
    """The position of the first row of a table below its header; 0 if the text does not begin with a table."""
    lines = text.split("\n", 2)
    is_table = len(lines) == 3 and lines[0].startswith("|") and set(lines[1]) <= set("|-: ")
    return len(lines[0]) + len(lines[1]) + 2 if is_table else 0
