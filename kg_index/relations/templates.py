"""The table `C[r, T]`: how often relation r was found between the mentions of template T and of its answer.

At rest a readable text (`kg_index/relations/template_rows.py`); in use a few flat arrays, about the size of that text.
Thesis, ch. 4.3.4; letters as there.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kg_index.relations.template_rows import Row, added, read_rows, write_rows
from kg_index.relations.template_text import NO_PATH
from qa_core.types import FloatArray, IntArray

KNOWN = "known.tsv"
"""File of a mined table of templates, in the folder that `kg mine` wrote."""


class Likely(NamedTuple):
    """A relation of a known template."""

    relation: str
    probability: float  # p(r|T)
    times: float  # C[r, T]


@dataclass(frozen=True, eq=False)
class TemplateTable:
    """N templates with E mappings to relations.

    Lookup is a binary search over the templates' UTF-8, which stands in one piece.
    """

    relations: tuple[str, ...]  # by number
    text: bytes  # templates in order
    starts: IntArray  # (N + 1,) where each begins
    bounds: IntArray  # (N + 1,) where its mappings begin
    relation: NDArray[np.int32]  # (E,)
    count: FloatArray  # (E,)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Rows in the order of templates; counts of the same template and relation are added up."""
        numbers: dict[str, int] = {}
        text, starts, bounds = bytearray(), array("q", [0]), array("q", [0])
        which, counts = array("i"), array("f")
        for group in added(rows):
            text += group[0].template.encode("utf-8")
            which.extend(numbers.setdefault(row.relation, len(numbers)) for row in group)
            counts.extend(row.times for row in group)
            starts.append(len(text))
            bounds.append(len(which))
        return cls(
            tuple(numbers),
            bytes(text),
            np.array(starts, dtype=np.int64),
            np.array(bounds, dtype=np.int64),
            np.array(which, dtype=np.int32),
            np.array(counts, dtype=np.float32),
        )

    @classmethod
    def load(cls, *paths: Path) -> Self:
        """One table of one file or several, merged. Raises ValueError with the line of what is wrong."""
        return cls.of(heapq.merge(*map(read_rows, paths)))

    def save(self, path: Path) -> None:
        write_rows(path, self.rows())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __contains__(self, template: object) -> bool:
        return isinstance(template, str) and self._place(template) is not None

    def template(self, place: int) -> str:
        return self._bytes(place).decode("utf-8")

    def templates(self) -> Iterator[str]:
        return map(self.template, range(len(self)))

    def rows(self) -> Iterator[Row]:
        for place in range(len(self)):
            template, own = self.template(place), slice(self.bounds[place], self.bounds[place + 1])
            for which, count in zip(self.relation[own].tolist(), self.count[own].tolist(), strict=True):
                yield Row(template, self.relations[which], count)

    def owners(self) -> IntArray:
        """The template of each mapping, (E,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def lookup(self, template: str, *, allowed: Iterable[str] | None = None) -> list[Likely]:
        """Relations of a template by `p(r|T) = C[r, T] / Σ_k C[k, T]`, best first; none where it is not known.

        "No path found" counts in the sum and is never among them, so that a template whose questions mostly were
        about something else says so by small numbers. With `allowed`, relations outside are left out and the sum is
        over the allowed ones and "no path found".
        """
        place = self._place(template)
        if place is None:
            return []
        own = slice(self.bounds[place], self.bounds[place + 1])
        names = [self.relations[which] for which in self.relation[own].tolist()]
        kept = None if allowed is None else {*allowed, NO_PATH}
        counts = {
            name: count
            for name, count in zip(names, self.count[own].tolist(), strict=True)
            if kept is None or name in kept
        }
        total = sum(counts.values())
        found = [Likely(name, count / total, count) for name, count in counts.items() if name != NO_PATH and total]
        return sorted(found, key=lambda each: (-each.times, each.relation))

    def _bytes(self, place: int) -> bytes:
        return self.text[self.starts[place] : self.starts[place + 1]]

    def _place(self, template: str) -> int | None:
        wanted, low, high = template.encode("utf-8"), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None
