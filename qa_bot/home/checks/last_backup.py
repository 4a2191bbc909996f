"""The note on the last backup of a home, `last-backup.json`, by which `status`, doctor and the schedule know of it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qa_bot.home.folder import Home
from qa_core.atomic import atomic_file

NOTE = "last-backup.json"


class LastBackup(NamedTuple):
    """`made` is in seconds since 1970."""

    folder: Path
    name: str
    made: float


def remember(home: Home, last: LastBackup) -> None:
    content = {"folder": str(last.folder), "name": last.name, "made": last.made}
    with atomic_file(home.path / NOTE, private=True) as file:
        file.write(json.dumps(content).encode())


def last_backup(home: Home) -> LastBackup | None:
    """None if there was none, or if the note cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads((home.path / NOTE).read_bytes())
        return LastBackup(Path(content["folder"]), str(content["name"]), float(content["made"]))
    return None


def with_folder(home: Home, advice: str) -> str:
    """The advice `qa-bot restore DIR` with the folder of the last backup; unchanged if there was none."""
    last = last_backup(home)
    return advice if last is None else advice.replace("`qa-bot restore DIR`", f"`qa-bot restore {last.folder}`")
