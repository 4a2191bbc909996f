"""What an operator should know of a home, and the problems in it, without opening the index."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from qa_bot.home.checks.last_backup import NOTE
from qa_bot.home.config import Config
from qa_bot.home.doctor import vectors
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Generation, Generations
from qa_core.disk_space import disk_space

if TYPE_CHECKING:
    from qa_bot.home.store.records import Source

Level = Literal["warning", "error"]


class Problem(NamedTuple):
    """`name` is the part of the report that it belongs to; `detail` says what to do."""

    name: str
    level: Level
    detail: str


def home_report(
    home: Home, config: Config, sources: Sequence[Source], *, backup_every: float = 0.0, now: float | None = None
) -> dict[str, Any]:
    """Generations, lag of sources, last backup and disk, with the list of `problems`.

    Args:
        sources: those of the store.
        backup_every: seconds between two scheduled backups; 0 if none are.
        now: seconds since 1970.
    """
    now = time.time() if now is None else now
    problems: list[Problem] = []
    return {
        "index": _index(home, problems),
        "graph": _graph(home, problems),
        "sources": [_source(source, now, problems) for source in sources],
        "improving": {name: value for name, value in _vectors(home, config).items() if name != "passages"},
        "backup": _backup(home, backup_every, now, problems),
        "disk": _disk(home, config, problems),
        "problems": problems,
    }


def status_of(problems: Sequence[Problem]) -> str:
    """`error`, `warning` or `ok`."""
    levels = {problem.level for problem in problems}
    return next((level for level in ("error", "warning") if level in levels), "ok")


def _index(home: Home, problems: list[Problem]) -> dict[str, Any]:
    generation = _current(home.index, "index", problems)
    if generation is None:
        return {"generation": 0, "documents": 0, "passages": 0, "encoder": None}
    return {"generation": generation.number} | {
        name: generation.manifest.get(name) for name in ("documents", "passages", "encoder")
    }


def _graph(home: Home, problems: list[Problem]) -> dict[str, Any]:
    generation = _current(home.graph, "graph", problems)
    facts = generation.manifest.get("triples", 0) if generation else 0
    return {"generation": generation.number if generation else 0, "facts": facts}


def _current(root: Path, name: str, problems: list[Problem]) -> Generation | None:
    try:
        return Generations(root).current()
    except (CorruptGenerationError, OSError) as error:
        problems.append(Problem(name, "error", str(error)))
        return None


def _vectors(home: Home, config: Config) -> dict[str, Any]:
    try:
        return vectors(home, config)
    except (CorruptGenerationError, OSError):  # reported with the index
        return {"vectors": None, "improvable": False}


def _source(source: Source, now: float, problems: list[Problem]) -> dict[str, Any]:
    if source.error:
        detail = f"The last sync of the source {source.name} was not complete: {source.error}"
        problems.append(Problem("sources", "warning", detail))
    age = None if source.synced is None else max(0.0, now - source.synced)
    return {
        "name": source.name,
        "kind": source.kind,
        "synced": source.synced,
        "age": age if age is None else round(age, 1),
        "error": source.error,
    }


def _backup(home: Home, every: float, now: float, problems: list[Problem]) -> dict[str, Any] | None:
    """The last backup; None if there was none. One is late when twice the time between two has passed."""
    made = _last_backup(home, problems)
    if every and (made is None or now - made > 2 * every):
        problems.append(Problem("backup", "warning", "The scheduled backup is late; the log says why, or run one."))
    return None if made is None else {"time": made, "age": round(max(0.0, now - made), 1)}


def _last_backup(home: Home, problems: list[Problem]) -> float | None:
    """Seconds since 1970."""
    try:
        return float(json.loads((home.path / NOTE).read_bytes())["made"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        problems.append(Problem("backup", "warning", f"{NOTE} cannot be read; make a backup again."))
        return None


def _disk(home: Home, config: Config, problems: list[Problem]) -> dict[str, Any]:
    try:
        space, limits = disk_space(home.path), config.disk
    except OSError as error:
        problems.append(Problem("home", "error", f"The home cannot be reached: {error}; bring it back to its place."))
        return {"free": 0, "size": 0, "percent": 0.0, "level": "full"}
    level = "full" if space.percent < limits.refuse else "low" if space.percent < limits.warn else "ok"
    left = f"{space.percent:.1f} % of the disk are free ({space.free_in_words})"
    if level == "full":
        problems.append(Problem("disk", "error", f"{left}: nothing is added until there is room."))
    elif level == "low":
        problems.append(Problem("disk", "warning", f"{left}; make room."))
    return {"free": space.free, "size": space.size, "percent": round(space.percent, 2), "level": level}
