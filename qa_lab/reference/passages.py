"""Packs units of one section into passages, and chooses the units that answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from qa_core.types import FloatArray
from qa_lab.reference.documents import Document
from qa_lab.reference.units import Unit

SIZE = 900
"""Characters of a passage at most, unless one unit is longer."""


@dataclass(frozen=True, slots=True)
class UnitPassage:
    """Units `[first, first + len(units))` of a collection, all of one section."""

    first: int
    units: tuple[Unit, ...]

    @property
    def document(self) -> Document:
        return self.units[0].document

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + len(self.units))

    @property
    def text(self) -> str:
        return joined(self.units)

    @property
    def context(self) -> str:
        """Title and headings: `Leave › Carry-over`."""
        title = self.document.title
        return " › ".join([title, *(heading for heading in self.units[0].headings if heading != title)])


def pack(units: Sequence[Unit], *, size: int = SIZE) -> list[UnitPassage]:
    """Passages in order; every unit is in one of them."""
    passages: list[UnitPassage] = []
    first, length = 0, 0
    for at, unit in enumerate(units):
        previous = units[at - 1]
        is_new = unit.document is not previous.document or unit.section != previous.section
        if at > first and (is_new or length + len(unit.text) > size):
            passages.append(UnitPassage(first, tuple(units[first:at])))
            first, length = at, 0
        length += len(unit.text) + 1
    if units:
        passages.append(UnitPassage(first, tuple(units[first:])))
    return passages


def joined(units: Sequence[Unit]) -> str:
    """The text of units: sentences of a paragraph in one line, every other unit in a new line."""
    parts = [units[0].text] if units else []
    for before, unit in pairwise(units):
        same_line = before.kind == unit.kind == "sentence" and before.block == unit.block
        parts += [" " if same_line else "\n", unit.text]
    return "".join(parts)


def best_window(units: Sequence[Unit], scores: FloatArray, *, width: int) -> tuple[int, int]:
    """`[start, end)`: the best unit, grown towards its better neighbour while the text has at most `width` characters.

    Args:
        scores: of each unit, (U,).
    """
    start = int(np.argmax(scores))
    end = start + 1
    while True:
        left = scores[start - 1] if start > 0 and _fits(units[start - 1 : end], width) else -np.inf
        right = scores[end] if end < len(units) and _fits(units[start : end + 1], width) else -np.inf
        if max(left, right) == -np.inf:
            return start, end
        if right >= left:
            end += 1
        else:
            start -= 1


def _fits(units: Sequence[Unit], width: int) -> bool:
    return len(joined(units)) <= width
