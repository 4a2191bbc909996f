"""Measures tables row by row; finished rows are kept as JSON and not measured again."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from qa_bot.home.folder import HomeError
from qa_core.atomic import atomic_file
from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.papers.cells import Cell, read_cell
from qa_lab.papers.declarations import NO_DATA, Measurement, PaperRow, Setting, Table
from qa_lab.papers.measuring import Laboratory, MissingError, definition
from qa_lab.papers.report import write_report


def run_tables(
    tables: Sequence[Table],
    data: Path,
    *,
    folder: Path | None = None,
    quick: bool = False,
    quick_paper: bool = False,
    transformer: Path | None = None,
    progress: Progress = silent,
    warn: Callable[[str], None] = lambda _: None,
) -> list[Cell]:
    """The cells of the tables, measured a row at a time.

    Args:
        folder: finished cells, trained models and the report so far are written to it, and read from it; delete it
            after a change of the program. Without it, nothing is kept.
        quick: small samples of data, and short training.
        quick_paper: the same for the rows with the settings of the paper alone.
        transformer: a folder for rows that start from a transformer.
        warn: called with a line for each row that could not be measured.
    """
    cells: list[Cell] = []
    with ExitStack() as stack:
        work_folder = folder or Path(stack.enter_context(TemporaryDirectory()))
        setting = Setting(data, work_folder / "models", quick, transformer, progress)
        default = Laboratory(setting)
        paper = Laboratory(replace(setting, quick=True)) if quick_paper and not quick else default
        for table in tables:
            for row in table.rows:
                for way in row.ways:
                    progress(f"{table.id}, {row.name}: row", len(cells) + 1)
                    laboratory = paper if way == "paper" else default
                    cells.append(_cell(laboratory, table, row, way, work_folder / "cells"))
                    if cells[-1].reason.startswith("failed"):
                        warn(f"{table.id}, {row.name} ({way}): {cells[-1].reason}")
            write_report(work_folder, tables, cells, quick=quick)
    return cells


def _cell(laboratory: Laboratory, table: Table, row: PaperRow, settings: str, folder: Path) -> Cell:
    way, setting = row.ways[settings], laboratory.setting
    if isinstance(way, str):
        return Cell(table.id, row.name, settings, reason=way, quick=setting.quick)
    state = _state(way, setting)
    path = folder / f"{_file_name(f'{table.id} {row.name} {settings}')}.json"
    if (known := read_cell(path)) is not None and known.state == state:
        return known
    command = way.command(quick=setting.quick) or [_own_command(table, quick=setting.quick)]
    started = time.perf_counter()
    try:
        figures = laboratory.measured(way)
    except MissingError as error:
        return Cell(table.id, row.name, settings, reason=f"{NO_DATA}: {error}", command=command, quick=setting.quick)
    except (ValueError, OSError, HomeError) as error:
        return Cell(table.id, row.name, settings, reason=f"failed: {error}", command=command, quick=setting.quick)
    seconds = round(time.perf_counter() - started, 2)
    values = {name: _pair(score) for name, score in figures.items()}
    cell = Cell(table.id, row.name, settings, values, "", command, seconds, setting.quick, state)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(orjson.dumps(asdict(cell), option=orjson.OPT_INDENT_2))
    return cell


def _pair(score: Score) -> tuple[float, float | None]:
    error = score.standard_error
    return float(score.mean), None if error != error else float(error)


def _own_command(table: Table, *, quick: bool) -> str:
    return f'qa-bot eval papers "{table.id}" --data $QA_BOT_DATA{" --quick" if quick else ""}'


def _file_name(text: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9.-]+", "-", text)[:80]
    return f"{readable}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"


def _state(measurement: Measurement, setting: Setting) -> str:
    files = [setting.data / path for path in measurement.paths]
    stats = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files if path.exists()]
    content = definition(measurement)
    values = orjson.dumps([content, setting.quick, str(setting.transformer or ""), stats])
    return hashlib.blake2b(values, digest_size=16).hexdigest()
