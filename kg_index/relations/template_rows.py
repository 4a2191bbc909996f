r"""Counts of templates and relations: collected in memory, written to and read from text files.

A line is `template \t relation \t count`; lines are sorted by template.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from qa_core.atomic import atomic_file


class Row(NamedTuple):
    """A template, a relation and its count."""

    template: str
    relation: str
    times: float


@dataclass(slots=True)
class TemplateCounts:
    """Counts in memory, a few hundred bytes per template."""

    counts: dict[str, dict[str, float]] = field(default_factory=dict)
    size: int = 0  # mappings

    def add(self, template: str, relation: str, count: float = 1.0) -> None:
        relations = self.counts.setdefault(template, {})
        self.size += relation not in relations
        relations[relation] = relations.get(relation, 0.0) + count

    def merge(self, other: TemplateCounts) -> None:
        for template, relations in other.counts.items():
            for relation, count in relations.items():
                self.add(template, relation, count)

    def rows(self) -> Iterator[Row]:
        """Rows sorted by template and relation."""
        for template in sorted(self.counts):
            for relation, count in sorted(self.counts[template].items()):
                yield Row(template, relation, count)


def added(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Sorted rows grouped by template; counts of the same relation are summed, relations sorted."""
    for template, group in groupby(rows, key=lambda row: row.template):
        counts: dict[str, float] = {}
        for row in group:
            counts[row.relation] = counts.get(row.relation, 0.0) + row.times
        yield [Row(template, relation, counts[relation]) for relation in sorted(counts)]


@dataclass(slots=True)
class CountedParts:
    """Counts in memory, written to `folder` as a sorted part when there are more than `held`."""

    folder: Path
    held: int
    counts: TemplateCounts = field(default_factory=TemplateCounts)
    written: list[Path] = field(default_factory=list)
    mappings_written: int = 0

    @property
    def mappings(self) -> int:
        """Number of rows, distinct within each part."""
        return self.mappings_written + self.counts.size

    def take(self, counts: TemplateCounts) -> None:
        self.counts.merge(counts)
        if self.counts.size >= self.held:
            self._write()

    def merged(self) -> Path:
        """Write all rows to a file; counts of the same template and relation are summed."""
        self._write()
        rows: Iterable[Row] = heapq.merge(*map(read_rows, self.written))
        path = self.folder / "merged.tsv"
        write_rows(path, chain.from_iterable(added(rows)))
        return path

    def _write(self) -> None:
        path = self.folder / f"{len(self.written)}.tsv"
        write_rows(path, self.counts.rows())
        self.written.append(path)
        self.mappings_written += self.counts.size
        self.counts = TemplateCounts()


_COUNT = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a file atomically; counts are rounded to six decimals."""
    with atomic_file(path) as file:
        for row in rows:
            file.write(f"{row.template}\t{row.relation}\t{_number(row.times)}\n".encode())


def read_rows(path: Path) -> Iterator[Row]:
    """Rows of a file.

    Raises ValueError with the line for bytes that are not UTF-8, wrong columns, an empty template or relation, a count
    that is not positive, and unsorted templates.
    """
    previous = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = _row(line.decode("utf-8").rstrip("\r\n"))
            except (UnicodeDecodeError, ValueError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if row.template < previous:
                raise ValueError(
                    f"{path}, line {number}: Expected templates in order, but got {row.template[:80]!r} after "
                    f"{previous[:80]!r}; sort the file."
                )
            previous = row.template
            yield row


def _row(line: str) -> Row:
    columns = line.split("\t")
    if len(columns) != 3 or not columns[0] or not columns[1]:
        raise ValueError(f"Expected template, relation and count between tabs, but got {line[:80]!r}.")
    if not _COUNT.fullmatch(columns[2]) or not float(columns[2]):
        raise ValueError(f"Expected a count above 0, but got {columns[2][:40]!r}.")
    return Row(columns[0], columns[1], float(columns[2]))


def _number(count: float) -> str:
    return f"{max(count, 1e-6):.6f}".rstrip("0").rstrip(".")
