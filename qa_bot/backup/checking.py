"""What doctor and `status` say about the last backup."""

from __future__ import annotations

import time
from typing import Any

from qa_bot.backup.manifest import BackupError, chosen
from qa_bot.backup.objects import Objects
from qa_bot.backup.schedule import is_due, seconds_of
from qa_bot.home.checks.last_backup import last_backup
from qa_bot.home.config import Config
from qa_bot.home.folder import Home

LATE = 2.0
"""A backup is late after so many times `[backup] every`."""


def check_backup(home: Home, config: Config) -> str:
    """Raises BackupError if the last backup is missing or damaged, or if scheduled ones are not written."""
    last, every = last_backup(home), seconds_of(config.backup.every)
    if last is None:
        if is_due(config, None, time.time()):
            return "none yet; the next `qa-bot add` or an idle service writes one"
        return "none yet; write one with `qa-bot backup DIR`"
    age = time.time() - last.made
    if every and age > LATE * every:
        raise BackupError(
            f"Expected a backup every {config.backup.every}, but the last one is {_described(age)} old; run `qa-bot "
            "backup`."
        )
    if not last.folder.is_dir():
        return f"{last.name}, {_described(age)} old, in {last.folder}, which is not there now"
    manifest, objects = chosen(last.folder, last.name), Objects(last.folder)
    damaged = [name for name, file in manifest.files.items() if not objects.is_whole(file.sha256)]
    if damaged:
        raise BackupError(
            f"Expected a whole backup {last.name} in {last.folder}, but {damaged[0]} is damaged; run `qa-bot backup "
            f"{last.folder}`, which writes it again."
        )
    return f"{last.name}, {_described(age)} old, in {last.folder}, every checksum is right"


def last_backup_fields(home: Home) -> dict[str, Any] | None:
    """The last backup for JSON; None if there was none."""
    last = last_backup(home)
    return {"folder": str(last.folder), "name": last.name, "made": last.made} if last else None


def _described(seconds: float) -> str:
    """A time span in the largest unit that fits."""
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} seconds"
