"""`qa-bot eval papers`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from qa_bot.cli.context import print_json
from qa_bot.terminal.output import counting, notify
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.papers.report import as_json, listed, markdown
from qa_lab.papers.running import run_tables
from qa_lab.papers.tables.registry import chosen


def measure_papers(
    names: Sequence[str],
    data: Path | None,
    *,
    out: Path | None,
    models: Sequence[Path],
    quick: bool,
    listing: bool,
    json: bool,
) -> None:
    """Measure the tables and print them, or list them.

    Raises:
        DatasetError: for an unknown table, no data, or rows that failed, after the tables were printed.
    """
    tables = chosen(names)
    if listing:
        sys.stdout.write(f"{listed(tables)}\n")
        return
    if data is None:
        raise DatasetError("Expected --data DIR, but got none; name the folder of the data sets.")
    with counting("") as progress:
        cells = run_tables(
            tables,
            data,
            folder=out,
            quick=quick,
            transformer=next(iter(models), None),
            progress=lambda doing, done: progress(done, doing),
            warn=notify,
        )
    if json:
        print_json(as_json(tables, cells, quick=quick))
    else:
        sys.stdout.write(f"{markdown(tables, cells, quick=quick)}\n")
    if failed := sum(cell.reason.startswith("failed") for cell in cells):
        raise DatasetError(f"{failed} of {len(cells)} rows failed, for the reasons in the tables.")
