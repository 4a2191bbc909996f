"""Before the database of an older version is migrated, the whole home is backed up inside itself.

HOME/upgrades/    a backup folder; the next successful `qa-bot doctor` removes it
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from qa_bot.backup.manifest import names
from qa_bot.backup.writing import backup
from qa_bot.home.checks.schema_version import NEWEST, is_older, note_newest, present_schema
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.replacement.swap import FORMER
from qa_bot.home.store import Store

log = logging.getLogger(__name__)

UPGRADES = "upgrades"


def upgrade(home: Home, config: Config) -> None:
    """Back up a home of an older version, then migrate its database.

    If it is interrupted, the next call goes on: a backup is complete or not there, and so is the migration.

    Raises:
        BackupError: the home is damaged; it is not migrated.
        WriterBusyError: another process writes to the home.
    """
    with home.lock("upgrade"):
        if not is_older(home, config):  # another process has just done it
            return
        before = present_schema(home, config)
        written = backup(home, config, home.path / UPGRADES, action=None)
        with Store.open(home.store_url(config)) as store:
            store.integrity.seal()
        way = "`qa-bot restore --undo` brings back what was there before, for that version"
        if config.store.url:
            note_newest(home, config)
            way = f"For that version, `qa-bot restore {written.folder} --into DIR` makes a separate home of it"
        log.warning(
            "An older version wrote this home (schema %s); it is now of schema %s. %s; its copy %s is kept until "
            "`qa-bot doctor` passes.",
            before,
            NEWEST,
            way,
            written.name,
        )


def upgrades(home: Home) -> list[str]:
    """The names of the backups before upgrades, newest first."""
    return names(home.path / UPGRADES)


def copies_inside(home: Home) -> list[Path]:
    """Folders of the home that hold its content of before an upgrade or a `restore`."""
    return [folder for name in (UPGRADES, FORMER) if (folder := home.path / name).is_dir()]


def forget_upgrades(home: Home) -> bool:
    """Remove the backups before upgrades; whether there were any."""
    folder = home.path / UPGRADES
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True
