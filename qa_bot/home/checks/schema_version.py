"""The schema of a database file, found without SQLAlchemy, which would double the time of a question."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from qa_bot.home.config import Config
from qa_bot.home.folder import Home

NEWEST = "0005"
"""The last of `qa_bot.home.store.schema.REVISIONS`."""


def schema_of(source: Path) -> str | None:
    """The schema of a SQLite file; None if there is no file, or no database in it."""
    if not source.is_file() or not source.stat().st_size:
        return None
    try:
        with closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return str(row[0]) if row else None


def is_older(home: Home, config: Config) -> bool:
    """Whether the home's own database has an older schema; the database of a server is its owner's to back up."""
    if config.store.url:
        return False
    schema = schema_of(home.path / "store.sqlite")
    return schema is not None and schema < NEWEST
