"""Numbered headings of plain text that stand directly above their text: "1. Membership", then its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.dates import is_date

LONGEST = 60  # characters
FEWEST = 2  # headings, or the numbers say nothing
LINE = re.compile(r"(\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+(\S.*)")
ITEM = re.compile(r"\s*(?:[-*•·‣▪◦–—+]|\d{1,3}[.)]|\(?[a-z][.)])\s")
ENDS = ".!?…。！？:;,"
SENTENCE_END = re.compile(r"[.!?…。！？:][\"'”’»)]*$")

Number = tuple[int, ...]


class _Place(NamedTuple):
    """A line of a block that may be a heading."""

    block: int
    line: int
    number: Number


def with_headings_apart(blocks: Sequence[list[str]]) -> list[list[str]]:
    """The blocks, divided around the numbered headings inside them.

    The shape says what they are: all are short lines without a stop above text that ends with one, and their numbers
    begin with 1 and leave none out. Steps do not have text below each of them.
    """
    places = [place for number, block in enumerate(blocks) for place in _places(number, block)]
    if len(places) < FEWEST or not _is_counted([place.number for place in places]):
        return list(blocks)
    heads = {(place.block, place.line) for place in places if len(blocks[place.block]) > 1}
    divided: list[list[str]] = []
    for number, block in enumerate(blocks):
        part: list[str] = []
        for index, line in enumerate(block):
            if (number, index) in heads:
                divided += [part, [line]] if part else [[line]]
                part = []
            else:
                part.append(line)
        divided += [part] if part else []
    return divided


def _places(number: int, block: Sequence[str]) -> Iterator[_Place]:
    """The lines of a block that may be headings; a block of one line is one if it is numbered."""
    for index, line in enumerate(block):
        match = LINE.fullmatch(line)
        if match is None or not _may_be_heading(line, match[2]):
            continue
        is_below_text = index > 0 and not SENTENCE_END.search(block[index - 1]) and (number, index) != (0, 1)
        if len(block) == 1 or (not is_below_text and _has_text(block, index + 1)):
            yield _Place(number, index, tuple(int(part) for part in match[1].split(".")))


def _may_be_heading(line: str, title: str) -> bool:
    return len(line) <= LONGEST and title[0].isupper() and title[-1] not in ENDS and not is_date(line)


def _has_text(block: Sequence[str], start: int) -> bool:
    """Whether a sentence begins at a line of a block, and the last line before the next number ends one."""
    if start == len(block) or not block[start][0].isupper() or ITEM.match(block[start]):
        return False
    end = next((index for index in range(start, len(block)) if LINE.fullmatch(block[index])), len(block))
    return SENTENCE_END.search(block[end - 1]) is not None


def _is_counted(numbers: Sequence[Number]) -> bool:
    """Whether the numbers begin with 1 and leave none out: 1, 1.1, 1.2, 2."""
    previous: Number = (0,)
    for number in numbers:
        following = [(*previous[:depth], previous[depth] + 1) for depth in range(len(previous))]
        if number not in following and number != (*previous, 1):
            return False
        previous = number
    return True
