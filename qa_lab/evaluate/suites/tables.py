"""Cells of a suite as a table and as JSON: a row for each measure of a collection, a column a configuration.

An ablation has its table the other way round, a row for each part that is left out, and a picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from qa_core.measures.metrics import Difference, Score, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED
from qa_lab.evaluate.suites.cells import Cell
from qa_lab.evaluate.suites.suite import Suite
from qa_lab.evaluate.workplace.tables import aligned

NOT_MEASURED = "–"
LEVEL = 0.05


class Entry(NamedTuple):
    """A cell's score in a measure, compared with the first configuration if both have the same questions."""

    cell: Cell
    score: Score
    versus: Difference | None


class Line(NamedTuple):
    """A row of the table; an entry is None if the engine cannot do the task."""

    collection: str
    measure: str
    entries: tuple[Entry | None, ...]


def lines(suite: Suite, cells: Sequence[Cell]) -> list[Line]:
    """The rows, in the order of the suite."""
    by_name = {(cell.collection, cell.configuration): cell for cell in cells}
    made = []
    for collection in suite.collections:
        row = [by_name.get((collection.name, configuration.name)) for configuration in suite.configurations]
        measures = dict.fromkeys(measure for cell in row if cell for measure in cell.values)
        made += [Line(collection.name, measure, tuple(_entries(row, measure))) for measure in measures]
    return made


def text(suite: Suite, cells: Sequence[Cell]) -> str:
    """`.421 ± .043` is a mean with its standard error, `+.264*` the difference from the first column with p < .05."""
    header = ["collection", "measure", "questions", *(configuration.name for configuration in suite.configurations)]
    rows = [header]
    for line in lines(suite, cells):
        size = next((str(len(entry.score.per_query)) for entry in line.entries if entry), "")
        rows.append([line.collection, line.measure, size, *map(_shown, line.entries)])
    seconds = [
        sum(cell.seconds for cell in cells if cell.configuration == configuration.name)
        for configuration in suite.configurations
    ]
    rows.append(["seconds", "", "", *(f"{total:.0f}" for total in seconds)])
    return f"suite {suite.name}: mean ± standard error; * p < .05 by paired bootstrap\n\n{aligned(rows)}"


def ablation_text(suite: Suite, cells: Sequence[Cell]) -> str:
    """The first measure of each collection, and what it changes by without each part; `mean` is over collections."""
    rows = [["", *(line.collection for line in _first_measures(suite, cells)), "mean"]]
    for name, values in _differences(suite, cells):
        shown = [NOT_MEASURED if value is None else _changed(*value, signed=len(rows) > 1) for value in values]
        measured = [value[0] for value in values if value is not None]
        rows.append([name, *shown, f"{fmean(measured):{'+' if len(rows) > 1 else ''}.3f}" if measured else ""])
    return f"suite {suite.name}: mean, then differences; * p < .05 by paired bootstrap\n\n{aligned(rows)}"


def draw_ablation(path: Path, suite: Suite, cells: Sequence[Cell]) -> None:
    """The differences as a coloured grid. Raises ModuleNotFoundError without matplotlib."""
    from qa_core.measures.plots import draw_differences

    _whole, *parts = _differences(suite, cells)
    grid = {name: [math.nan if value is None else value[0] for value in values] for name, values in parts}
    draw_differences(path, grid, [line.collection for line in _first_measures(suite, cells)])


def _first_measures(suite: Suite, cells: Sequence[Cell]) -> list[Line]:
    return list({line.collection: line for line in reversed(lines(suite, cells))}.values())[::-1]


def _differences(suite: Suite, cells: Sequence[Cell]) -> Iterator[tuple[str, list[tuple[float, bool] | None]]]:
    """For each configuration the mean, or the difference from the first, and whether it is significant."""
    columns = _first_measures(suite, cells)
    for number, configuration in enumerate(suite.configurations):
        entries = [line.entries[number] for line in columns]
        yield configuration.name, [None if entry is None else _difference(entry) for entry in entries]


def _difference(entry: Entry) -> tuple[float, bool]:
    versus = entry.versus
    return (entry.score.mean, False) if versus is None else (versus.difference, versus.p < LEVEL)


def _changed(value: float, significant: bool, *, signed: bool) -> str:
    return f"{value:{'+' if signed else ''}.3f}{'*' if significant else ' '}"


def as_json(suite: Suite, cells: Sequence[Cell]) -> dict[str, Any]:
    """Rows with an object for each configuration."""
    names = [configuration.name for configuration in suite.configurations]
    rows = [
        {
            "collection": line.collection,
            "measure": line.measure,
            "configurations": {
                name: _entry_dict(entry) for name, entry in zip(names, line.entries, strict=True) if entry
            },
        }
        for line in lines(suite, cells)
    ]
    return {"suite": suite.name, "configurations": names, "rows": rows}


def _entries(row: Sequence[Cell | None], measure: str) -> Iterator[Entry | None]:
    first = row[0].values.get(measure) if row[0] else None
    for number, cell in enumerate(row):
        if cell is None or measure not in cell.values:
            yield None
            continue
        values = cell.values[measure]
        paired = number > 0 and first is not None and first.keys() == values.keys()
        versus = paired_bootstrap(values, first, seed=SEED) if paired and first else None
        yield Entry(cell, cell.score(measure), versus)


def _shown(entry: Entry | None) -> str:
    if entry is None:
        return NOT_MEASURED
    error = entry.score.standard_error
    shown = f"{entry.score.mean:.3f}" + ("" if math.isnan(error) else f" ± {error:.3f}")
    if entry.versus is not None:
        shown += f" {entry.versus.difference:+.3f}{'*' if entry.versus.p < LEVEL else ' '}"
    return shown


def _entry_dict(entry: Entry) -> dict[str, Any]:
    score, versus = entry.score, entry.versus
    payload: dict[str, Any] = {
        "questions": len(score.per_query),
        "mean": round(score.mean, 6),
        "se": None if math.isnan(score.standard_error) else round(score.standard_error, 6),
        "seconds": entry.cell.seconds,
    }
    if versus is not None:
        p = versus.p if versus.p >= LEAST_P else LEAST_P
        payload["versus_first"] = {
            "difference": round(versus.difference, 6),
            "low": round(versus.low, 6),
            "high": round(versus.high, 6),
            "p": p,
        }
    return payload
