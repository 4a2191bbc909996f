"""Upgrades a home of an older version; quick if there is nothing to do, since every command asks."""

from __future__ import annotations

from qa_bot.home.checks.schema_version import is_older
from qa_bot.home.config import Config
from qa_bot.home.folder import Home


def keep_before_upgrade(home: Home, config: Config) -> None:
    """Back up and migrate a home of an older version; see `qa_bot.backup.upgrading`."""
    if is_older(home, config):
        from qa_bot.backup.upgrading import upgrade  # late: it imports SQLAlchemy

        upgrade(home, config)
