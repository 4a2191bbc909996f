"""Measured cells of a suite's table, kept as a JSON file each, so that an interrupted run can be continued."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from qa_core.atomic import atomic_file
from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.suites.measuring import measured
from qa_lab.evaluate.suites.suite import Collection, Configuration, Suite


@dataclass(frozen=True, slots=True)
class Cell:
    """The values of one configuration on one collection: measure → question → value; `seconds` for all of it.

    `state` is a hash of everything that the suite says of both, and of the sizes and times of the files.
    """

    collection: str
    configuration: str
    values: Mapping[str, Mapping[str, float]]
    seconds: float
    state: str

    def score(self, measure: str) -> Score:
        return Score.of(self.values[measure])


def run_suite(
    suite: Suite,
    *,
    folder: Path | None = None,
    limit: int | None = None,
    progress: Progress = silent,
    skip: Callable[[str], None] = lambda _: None,
) -> Iterator[Cell]:
    """Cells of the suite, collection by collection; one that an engine cannot measure is left out.

    Args:
        folder: finished cells are written to it and read from it; delete it after a change of the program.
        limit: largest number of questions of a collection.
        skip: called with a line for each collection that is not there.
    """
    for collection in suite.collections:
        if (missing := collection.missing) is not None:
            skip(f"{collection.name} is skipped: there is no {missing}.")
            continue
        for configuration in suite.configurations:
            cell = _cell(collection, configuration, folder, limit, progress)
            if cell is not None:
                yield cell


def _cell(
    collection: Collection, configuration: Configuration, folder: Path | None, limit: int | None, progress: Progress
) -> Cell | None:
    state = _state(collection, configuration, limit)
    path = folder / _file_name(collection, configuration) if folder else None
    if path is not None and (known := read_cell(path)) is not None and known.state == state:
        return known
    started = time.perf_counter()
    values = measured(collection, configuration, limit=limit, progress=progress)
    if values is None:
        return None
    cell = Cell(collection.name, configuration.name, values, round(time.perf_counter() - started, 2), state)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(orjson.dumps(asdict(cell), option=orjson.OPT_INDENT_2))
    return cell


def read_cell(path: Path) -> Cell | None:
    """A cell that was written; None for a missing or damaged file."""
    try:
        fields: dict[str, Any] = orjson.loads(path.read_bytes())
        return Cell(**fields)
    except (OSError, orjson.JSONDecodeError, TypeError):
        return None


def _file_name(collection: Collection, configuration: Configuration) -> str:
    return re.sub(r"[^\w.-]+", "-", f"{collection.name}--{configuration.name}") + ".json"


def _state(collection: Collection, configuration: Configuration, limit: int | None) -> str:
    """Name, size and time of the files, and the definition of the cell."""
    files = [path for path in (collection.data, collection.questions) if path is not None and path.exists()]
    stats = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    definition = orjson.dumps([asdict(collection), asdict(configuration), limit, stats], default=str)
    return hashlib.blake2b(definition, digest_size=16).hexdigest()
