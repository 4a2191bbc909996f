"""The table `C[r, T]`: how often relation r connects the mention of template T with one of its answer.

Stored as text (`kg_index/relations/template_rows.py`), in memory a few flat arrays of about the same size.
(Wang (2018), ch. 4.3.4; letters as there.)
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
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
"""File name of the table that answers use, in a folder written by `kg mine`."""


class Likely(NamedTuple):
    """A relation of a known template."""

    relation: str
    probability: float  # p(r|T)
    times: float  # C[r, T]


@dataclass(frozen=True, eq=False)
class TemplateTable:
    """N templates with E mappings to relations; lookup is a binary search over the templates' UTF-8."""

    relations: tuple[str, ...]  # by number
    text: bytes  # sorted templates, concatenated
    starts: IntArray  # (N + 1,) begin of each template
    bounds: IntArray  # (N + 1,) its first mapping
    relation: NDArray[np.int32]  # (E,)
    count: FloatArray  # (E,)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """From rows sorted by template; counts of the same template and relation are summed."""
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
        """Merge one or several files. Raises ValueError with the malformed line."""
        return cls.of(heapq.merge(*map(read_rows, paths)))

    def save(self, path: Path) -> None:
        write_rows(path, self.rows())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __contains__(self, template: object) -> bool:
        return isinstance(template, str) and self._index(template) is not None

    def template(self, index: int) -> str:
        return self._bytes(index).decode("utf-8")

    def templates(self) -> Iterator[str]:
        return map(self.template, range(len(self)))

    def rows(self) -> Iterator[Row]:
        for index in range(len(self)):
            template, mappings = self.template(index), slice(self.bounds[index], self.bounds[index + 1])
            for which, count in zip(self.relation[mappings].tolist(), self.count[mappings].tolist(), strict=True):
                yield Row(template, self.relations[which], count)

    def owners(self) -> IntArray:
        """The index of the template of each mapping, (E,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def probabilities(self) -> FloatArray:
        """`p(r|T) = C[r, T] / Σ_k C[k, T]` of each mapping, (E,)."""
        totals = np.bincount(self.owners(), weights=self.count, minlength=len(self))
        return (self.count / totals[self.owners()]).astype(np.float32)

    def lookup(self, template: str, *, allowed: Iterable[str] | None = None) -> list[Likely]:
        """Relations of a template by `p(r|T) = C[r, T] / Σ_k C[k, T]`, best first; empty for an unknown template.

        "No path found" counts in the sum but is not returned, so its share lowers the other probabilities. With
        `allowed`, the sum is over the allowed relations and "no path found".
        """
        index = self._index(template)
        if index is None:
            return []
        mappings = slice(self.bounds[index], self.bounds[index + 1])
        names = [self.relations[which] for which in self.relation[mappings].tolist()]
        counts = dict(zip(names, self.count[mappings].tolist(), strict=True))
        if allowed is not None:
            selected = {*allowed, NO_PATH}
            counts = {name: count for name, count in counts.items() if name in selected}
        total = sum(counts.values())
        likely = [Likely(name, count / total, count) for name, count in counts.items() if name != NO_PATH and total]
        return sorted(likely, key=lambda row: (-row.times, row.relation))

    def _bytes(self, index: int) -> bytes:
        return self.text[self.starts[index] : self.starts[index + 1]]

    def _index(self, template: str) -> int | None:
        key = template.encode("utf-8")
        index = bisect_left(range(len(self)), key, key=self._bytes)
        return index if index < len(self) and self._bytes(index) == key else None
