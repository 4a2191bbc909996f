"""Cuts texts into passages at sentence boundaries, with overlap."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from qa_core.types import Span

OVERLAP_SHARE = 3  # repeated sentences take at most 1/3 of a passage


def cut(
    text: str, *, characters: int = 1000, overlap: int = 1, sentences: Callable[[str], list[Span]] | None = None
) -> list[Span]:
    """Spans of passages in order, each at most `characters` long and without outer white space.

    A text that fits stays whole. The last `overlap` sentences of a passage are repeated in the next, if they take at
    most a third of it. A sentence over the limit is cut between words, a word over the limit anywhere. Every
    character except white space is in at least one passage.

    Args:
        sentences: spans of the sentences of a text; by default `qa_core.text.analysis.sentences`.
    """
    if characters < 1 or overlap < 0:
        raise ValueError(f"Expected characters ≥ 1 and overlap ≥ 0, but got {characters} and {overlap}.")
    whole = _stripped(text, 0, len(text))
    if whole[1] - whole[0] <= characters:
        return [whole] if whole[0] < whole[1] else []
    return _packed(list(_units(text, (sentences or _sentences)(text), characters)), characters, overlap)


def _sentences(text: str) -> list[Span]:
    from qa_core.text.analysis import sentences  # late: short texts need no sentence splitter

    return sentences(text)


def _units(text: str, sentences: Sequence[Span], characters: int) -> Iterator[Span]:
    """Sentences, from the start of each to the start of the next, in pieces that fit."""
    starts = sorted({0, *(start for start, _ in sentences if 0 < start < len(text))})
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield from _pieces(text, *_stripped(text, start, end), characters)


def _pieces(text: str, start: int, end: int, characters: int) -> Iterator[Span]:
    while end - start > characters:
        bound = _word_bound(text, start, start + characters)
        yield _stripped(text, start, bound)
        start = _stripped(text, bound, end)[0]
    if start < end:
        yield start, end


def _word_bound(text: str, start: int, end: int) -> int:
    """The last end of a word in the stretch, given that a character follows it; the stretch's end without one."""
    if text[end].isspace():
        return end
    bounds = [match.start() for match in re.finditer(r"\s+", text[start:end])]
    return start + bounds[-1] if bounds else end


def _packed(units: Sequence[Span], characters: int, overlap: int) -> list[Span]:
    passages: list[Span] = []
    first, following = 0, 0
    while following < len(units):
        start = units[first][0]
        while following < len(units) and units[following][1] - start <= characters:
            following += 1
        passages.append((start, units[following - 1][1]))
        first = _overlap_start(units, first, following, characters, overlap)
    return passages


def _overlap_start(units: Sequence[Span], first: int, following: int, characters: int, overlap: int) -> int:
    """The unit that the next passage begins with: `following`, or up to `overlap` before it."""
    if following == len(units):
        return following
    for start in range(max(first + 1, following - overlap), following):
        repeated = units[following - 1][1] - units[start][0]
        if repeated * OVERLAP_SHARE <= characters and units[following][1] - units[start][0] <= characters:
            return start
    return following


def _stripped(text: str, start: int, end: int) -> Span:
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return start + left, start + max(left, len(stretch.rstrip()))
