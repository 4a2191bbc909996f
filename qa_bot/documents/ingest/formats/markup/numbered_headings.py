"""Numbered headings of plain text that stand directly above their text: "1. Membership", then its sentences.

Also headings that are numbered with a letter: "A. Standard procedure", "A.1. Proposal".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from qa_bot.documents.ingest.dates import is_date

LONGEST = 60  # characters
FEWEST = 2  # headings, or the numbers say nothing
LETTER_LEVEL = 2
"""Of a heading with a letter alone."""
LINE = re.compile(r"(\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+(\S.*)")
ITEM = re.compile(r"\s*(?:[-*•·‣▪◦–—+]|\d{1,3}[.)]|\(?[a-z][.)])\s")
LETTERED = re.compile(r"([A-Z])\.(\d{1,3}(?:\.\d{1,3}){0,2})?\.?\s+(\S.*)")
PARTICLES = re.compile(r"\b(?:van|von|zu|de|del|della|der|den|di|da|dos|du|la|le|ter|bin|ibn|and|und|y|e)\b")
"""Small words of names."""
SMALL_WORD = re.compile(r"\s[^\W\d_A-Z][^\W\d_]")
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


class _Lettered(NamedTuple):
    """A block of one line that may be a heading: its letter, its numbers after the letter, and its title."""

    block: int
    letter: str
    number: Number
    title: str


def lettered_headings(blocks: Sequence[Sequence[str]]) -> Mapping[int, int]:
    """The level of each block that is a heading numbered with a letter, by its place.

    At least two of a level are in order, from A or from A.0 or A.1 on, and text is below the last one. Letters alone
    may be initials of names, so that one of them has numbers below it or a title with a small word.
    """
    places = [place for number, block in enumerate(blocks[:-1]) for place in _lettered(number, block)]
    letters = [place for place in places if not place.number]
    numbered = {place.letter for place in places if place.number}
    is_title = any(SMALL_WORD.search(PARTICLES.sub("", place.title)) for place in letters)
    levels: dict[int, int] = {}
    in_order = [place.letter for place in letters] == [chr(ord("A") + at) for at in range(len(letters))]
    apart = all(later.block - place.block > 1 for place, later in pairwise(letters))
    if len(letters) >= FEWEST and in_order and apart and (numbered or is_title):
        levels |= {place.block: LETTER_LEVEL for place in letters}
    for letter in numbered:
        below = [place for place in places if place.letter == letter and place.number]
        first = [place.number[0] for place in below if len(place.number) == 1]
        if len(first) >= FEWEST and first[0] <= 1 and first == [*range(first[0], first[0] + len(first))]:
            levels |= {place.block: LETTER_LEVEL + len(place.number) for place in below}
    return levels


def _lettered(number: int, block: Sequence[str]) -> Iterator[_Lettered]:
    match = LETTERED.fullmatch(block[0].strip()) if len(block) == 1 else None
    if match and _may_be_heading(match[0], match[3]):
        yield _Lettered(number, match[1], tuple(map(int, match[2].split("."))) if match[2] else (), match[3])


def _is_counted(numbers: Sequence[Number]) -> bool:
    """Whether the numbers begin with 1 and leave none out: 1, 1.1, 1.2, 2."""
    previous: Number = (0,)
    for number in numbers:
        following = [(*previous[:depth], previous[depth] + 1) for depth in range(len(previous))]
        if number not in following and number != (*previous, 1):
            return False
        previous = number
    return True
