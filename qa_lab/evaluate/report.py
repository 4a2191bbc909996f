"""Rows of results, and their output as JSON, as a table for the terminal and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from qa_core.measures.metrics import Difference, Score, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """Scores of one system on one task.

    `encoder` is empty if the system uses none. `query` names the text that was used instead of the question. `versus`
    compares `measure` with the first row, question by question.
    """

    task: str
    data: str
    split: str
    engine: str
    encoder: str
    queries: int
    scores: Mapping[str, Score]
    query: str = ""
    measure: str = ""
    versus: Difference | None = None

    @property
    def name(self) -> str:
        parts = (self.engine, self.encoder.rstrip("/").rpartition("/")[2], self.query)
        return ", ".join(part for part in parts if part)

    def as_dict(self) -> dict[str, Any]:
        """Means by measure, standard errors by `MEASURE_se`; undefined values are None."""
        result: dict[str, Any] = {
            "task": self.task,
            "data": self.data,
            "split": self.split,
            "engine": self.engine,
            "encoder": self.encoder or None,
            "queries": self.queries,
        }
        if self.query:
            result["query"] = self.query
        result |= {name: _finite(score.mean) for name, score in self.scores.items()}
        result |= {f"{name}_se": _finite(score.standard_error) for name, score in self.scores.items()}
        if self.versus:
            result["versus_first"] = {
                "measure": self.measure,
                "difference": round(self.versus.difference, 6),
                "low": round(self.versus.low, 6),
                "high": round(self.versus.high, 6),
                "p": self.versus.p,
            }
        return result


def compared(rows: Sequence[Row], measure: str) -> list[Row]:
    """The rows, each but the first with a paired bootstrap of `measure` against the first."""
    first, *others = rows
    base = first.scores[measure].per_query
    return [first] + [
        replace(row, measure=measure, versus=paired_bootstrap(row.scores[measure].per_query, base, seed=SEED))
        for row in others
    ]


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """One object for one row; for several, the first row's object with all of them under `models`."""
    objects = [row.as_dict() for row in rows]
    return objects[0] if len(objects) == 1 else {**objects[0], "models": objects}


def headings(rows: Sequence[Row]) -> list[str]:
    """Headings of `cells`: the system, its measures, and the comparison if there is one."""
    measure = next((row.measure for row in rows if row.versus), "")
    return ["", *rows[0].scores, *([f"{measure} − first"] if measure else [])]


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """Scores as text, a list per row: `.414 ± .052` is a mean and its standard error."""
    compares = any(row.versus for row in rows)
    return [
        [row.name, *map(_figure, row.scores.values()), *([_difference(row.versus)] if compares else [])] for row in rows
    ]


def caption(rows: Sequence[Row]) -> str:
    first = rows[0]
    split = f", {first.split} split" if first.split else ""
    text = f"{first.task} on {first.data}{split}: {first.queries} questions, mean ± standard error"
    return text + ("; differences with 95 % intervals and p by paired bootstrap" if len(rows) > 1 else "")


def table(rows: Sequence[Row]) -> Table:
    """A table for the terminal, a line per measure: a screen is too narrow for a column each."""
    from rich.table import Table

    made = Table(title=caption(rows), title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(["", *(row.name for row in rows)]):
        made.add_column(name, justify="right" if number else "left")
    for line in zip(headings(rows)[1:], *(line[1:] for line in cells(rows)), strict=True):
        made.add_row(*line)
    return made


def markdown(rows: Sequence[Row]) -> str:
    """A Markdown table, a line per system."""
    lines = [headings(rows), ["---"] * len(headings(rows)), *cells(rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(score: Score) -> str:
    if math.isnan(score.mean):
        return "–"
    return f"{_short(score.mean)}" + ("" if math.isnan(score.standard_error) else f" ± {_short(score.standard_error)}")


def _difference(difference: Difference | None) -> str:
    if difference is None:
        return ""
    mean, low, high = (_short(x, sign="+") for x in (difference.difference, difference.low, difference.high))
    p = f"p {_short(difference.p)}" if difference.p >= LEAST_P else f"p < {_short(LEAST_P)}"
    return f"{mean} [{low}, {high}], {p}"


def _short(value: float, *, sign: str = "") -> str:
    """Three decimals without a leading zero, as in the field's tables."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
