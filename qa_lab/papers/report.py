"""Tables of papers as Markdown and JSON: for each row the published figures, then ours by each kind of settings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from qa_core.atomic import atomic_file
from qa_lab.papers.cells import Cell
from qa_lab.papers.declarations import PAPERS, SEED, PaperRow, Table

PAGE, DATA = "papers.md", "papers.json"
PUBLISHED = "published"
NAMES = {"paper": "ours, settings of the paper", "default": "ours"}
SMALL = ", small sample"
ALL_SMALL = " Small samples (`--quick`)."
SOME_SMALL = " Rows named “small sample” have small samples (`--quick`); the others are whole."

Cells = Mapping[tuple[str, str, str], Cell]


def write_report(folder: Path, tables: Sequence[Table], cells: Sequence[Cell], *, quick: bool) -> None:
    """Write the page and its figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / PAGE) as file:
        file.write((markdown(tables, cells) + "\n").encode())
    with atomic_file(folder / DATA) as file:
        file.write(orjson.dumps(as_json(tables, cells, quick=quick), option=orjson.OPT_INDENT_2))


def markdown(tables: Sequence[Table], cells: Sequence[Cell]) -> str:
    """A section for each table, and its commands after it; small samples are named, in the table or in its rows."""
    known = {(cell.table, cell.row, cell.settings): cell for cell in cells}
    return "\n\n".join("\n\n".join(_section(table, known)) for table in tables)


def as_json(tables: Sequence[Table], cells: Sequence[Cell], *, quick: bool) -> dict[str, Any]:
    """An object for each table, with an object for each row."""
    known = {(cell.table, cell.row, cell.settings): cell for cell in cells}
    return {"quick": quick, "seed": SEED, "tables": [_table_json(table, known) for table in tables]}


def listed(tables: Sequence[Table]) -> str:
    """A line for each table: its id, its title, and its rows that can be measured."""
    lines = []
    for table in tables:
        ways = [way for row in table.rows for way in row.ways.values()]
        measured = sum(not isinstance(way, str) for way in ways)
        lines.append(f"{table.id:<6} {table.title} ({measured} of {len(ways)} rows can be measured)")
    return "\n".join(lines)


def _section(table: Table, cells: Cells) -> Iterator[str]:
    letter, _, number = table.id.partition(" ")
    sizes = {cell.quick for row in table.rows for cell in _of(table, row, cells) if cell.figures}
    mixed = len(sizes) > 1
    sample = SOME_SMALL if mixed else ALL_SMALL if True in sizes else ""
    yield f"## {table.id}: {table.title}"
    yield f"{PAPERS[letter]}, table {number}. {table.data}{sample}"
    head = ["", "", *table.measures, "seconds"]
    lines = [head, ["---"] * len(head)]
    for row in table.rows:
        lines += _lines(table, row, cells, mixed=mixed)
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if table.notes:
        yield table.notes
    blocks = dict.fromkeys(tuple(cell.command) for row in table.rows for cell in _of(table, row, cells))
    if commands := [line for block in blocks for line in block]:
        yield "\n".join(["Commands:", "", "```", *commands, "```"])


def _lines(table: Table, row: PaperRow, cells: Cells, *, mixed: bool) -> Iterator[list[str]]:
    name = row.name
    if row.paper:
        yield [name, PUBLISHED, *(_short(row.paper.get(measure)) for measure in table.measures), ""]
        name = ""
    for cell in _of(table, row, cells):
        figures = [_figure(cell, measure) for measure in table.measures]
        if cell.reason:
            figures[0] = cell.reason
        ours = NAMES[cell.settings] + (SMALL if mixed and cell.quick and cell.figures else "")
        yield [name, ours, *figures, f"{cell.seconds:.0f}" if cell.figures else ""]
        name = ""


def _of(table: Table, row: PaperRow, cells: Cells) -> list[Cell]:
    keys = [(table.id, row.name, settings) for settings in row.ways]
    return [cells[key] for key in keys if key in cells]


def _figure(cell: Cell, measure: str) -> str:
    if measure not in cell.figures:
        return ""
    mean, error = cell.figures[measure]
    return _short(mean) + (f" ± {_short(error)}" if error is not None else "")


def _short(value: float | None) -> str:
    """Three decimals without a leading zero; whole numbers above 10 with commas."""
    if value is None:
        return ""
    if math.isnan(value):
        return "–"
    if value == int(value) and abs(value) > 10:
        return f"{int(value):,}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def _table_json(table: Table, cells: Cells) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        item: dict[str, Any] = {"row": row.name, "published": dict(row.paper)}
        for cell in _of(table, row, cells):
            item[cell.settings] = _cell_json(cell)
        rows.append(item)
    return {"table": table.id, "title": table.title, "data": table.data, "measures": table.measures, "rows": rows}


def _cell_json(cell: Cell) -> dict[str, Any]:
    if cell.reason:
        return {"reason": cell.reason}
    figures = {name: None if math.isnan(mean) else round(mean, 6) for name, (mean, _) in cell.figures.items()}
    errors = {f"{name}_se": round(error, 6) for name, (_, error) in cell.figures.items() if error is not None}
    return {
        **figures,
        **errors,
        "seconds": cell.seconds,
        "seed": SEED,
        "quick": cell.quick,
        "command": cell.command,
    }
