"""Cells of a suite as a table and as JSON: a row for each measure of a collection, a column a configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
