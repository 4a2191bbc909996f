"""A file of outcomes, one JSON line each, which a sweep that was stopped goes on with; and the table of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""An `Outcome` as a mapping, with `points`: the number of points that its operation had."""


def recorded(path: Path, totals: Mapping[str, int]) -> list[Row]:
    """The rows that hold: no fault was found, and their operation has as many points as it had then.

    Raises ValueError for a line that is no outcome; the last one may have been cut short.
    """
    if not path.exists():
        return []
    rows: list[Row] = []
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            holds = not row["faults"] and totals.get(row["operation"], row["points"]) == row["points"]
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) and not line.endswith("\n"):
                break
            raise ValueError(f"{path}:{number}: Expected an outcome of a sweep, but got {line[:80]!r}.") from error
        if holds:
            rows.append(row)
    return rows


def begin(path: Path, rows: Iterable[Row]) -> None:
    """Write a file with rows alone."""
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    add(beside, rows)
    beside.replace(path)


def add(path: Path, rows: Iterable[Row]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{json.dumps(row)}\n" for row in rows))


def table(rows: Iterable[Row], totals: Mapping[str, int], kinds: Sequence[str]) -> list[str]:
    """A line for each operation: its points, how many were struck, and `before + after` (`wrong`) for each kind."""
    by_cell: dict[tuple[str, str], list[Row]] = defaultdict(list)
    struck: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        by_cell[row["operation"], row["kind"]].append(row)
        struck[row["operation"]].add(row["point"])
    lines = [f"{'operation':<12}{'points':>7}{'struck':>7}  " + "".join(f"{kind:>16}" for kind in kinds)]
    for name, total in totals.items():
        cells = (_cell(by_cell[name, kind]) for kind in kinds)
        lines.append(f"{name:<12}{total:>7}{len(struck[name]):>7}  " + "".join(f"{cell:>16}" for cell in cells))
    points, hit = sum(totals.values()), sum(map(len, struck.values()))
    wrong = sum(bool(row["faults"]) for cell in by_cell.values() for row in cell)
    return [*lines, f"{hit} of {points} points, {sum(map(len, by_cell.values()))} outcomes, {wrong} wrong"]


def _cell(rows: Sequence[Row]) -> str:
    wrong, old = sum(bool(row["faults"]) for row in rows), sum(row["left"] == "before" for row in rows)
    return f"{old}+{len(rows) - old}" + (f" {wrong} wrong" if wrong else "")
