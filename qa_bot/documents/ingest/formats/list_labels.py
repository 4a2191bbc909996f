"""The signs of items of lists as programs show them: numerals, labels of several levels, depths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LABEL = re.compile(r"\(?\w{1,6}[.)]+|.{0,10}\d.{0,20}")
"""A letter or a Roman numeral with its point or parenthesis, or anything with a number; other signs are bullets."""
NUMBER = re.compile(r"\(?(\d{1,9})\b")
MOST_REPEATED = 4  # letters of a number
ROMAN = {"m": 1000, "cm": 900, "d": 500, "cd": 400, "c": 100, "xc": 90, "l": 50, "xl": 40, "x": 10, "ix": 9, "v": 5,
         "iv": 4, "i": 1}  # fmt: skip


def numeral(number: int, form: str) -> str:
    """A number in the form of "a", "A", "i" or "I"; digits for other forms, and if it has no such form.

    After z comes aa, then bb.
    """
    text = str(number)
    if form in {"a", "A"} and number > 0:
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 % MOST_REPEATED + 1)
    elif form in {"i", "I"} and 0 < number < 4000:
        text = "".join(_roman(number))
    return text.upper() if form in {"A", "I"} else text


def _roman(number: int) -> Iterator[str]:
    for sign, worth in ROMAN.items():
        yield sign * (number // worth)
        number %= worth


ROMANS = [numeral(number, "i") for number in range(1, 31)]
"""The small numerals that label items."""


def number_and_label(sign: str) -> tuple[int | None, str]:
    """The number and the label of an item with this sign; None and "" for a bullet."""
    sign = " ".join(sign.split())
    if not LABEL.fullmatch(sign):
        return None, ""
    number = NUMBER.match(sign)
    return int(number[1]) if number else None, sign


def first_labels(labels: Sequence[str]) -> list[str]:
    """Of each letter or small Roman numeral, the first one of its list: at least two are in order. "" if it is in none.

    A list of numerals may be in one of letters; another letter may begin an abbreviation ("z. B.") or a name.
    """
    firsts = [""] * len(labels)
    last: dict[str, int] = {}  # form → place of the last label in this form
    for place, label in enumerate(labels):
        form = next((form for form, before in last.items() if label == _next(labels[before], form)), "")
        if form:
            before = last[form]
            firsts[before] = firsts[place] = firsts[before] or labels[before]
        else:
            form = "i" if label in ROMANS else "a" if label.islower() else "A"
        last[form] = place
    return firsts


def _next(label: str, form: str) -> str:
    """The label after this one."""
    if form == "i":
        return ROMANS[(ROMANS.index(label) + 1) % len(ROMANS)]
    return chr(ord(label[0]) + 1)


class Depths:
    """The depths of items from the levels that a document gives: the first one is not nested, whatever its level is."""

    def __init__(self) -> None:
        self._levels: list[int] = []

    def clear(self) -> None:
        """The list has ended."""
        self._levels.clear()

    def depth(self, level: int) -> int:
        """The depth of the next item: that of the item before with the same level, one more than that of its parent."""
        while self._levels and self._levels[-1] > level:
            self._levels.pop()
        if not self._levels or self._levels[-1] < level:
            self._levels.append(level)
        return len(self._levels) - 1
