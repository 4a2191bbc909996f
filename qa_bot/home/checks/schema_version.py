"""The schema of a database file, found without SQLAlchemy, which would double the time of a question."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from qa_bot.home.config import Config
from qa_bot.home.folder import Home, HomeError
from qa_bot.home.replacement.program_version import noted_version
from qa_core.atomic import atomic_file

NEWEST = "0007"
"""The last of `qa_bot.home.store.schema.REVISIONS`."""
SERVER = ".server-schema"
"""File of a home whose server has the newest schema."""


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


class NewerHomeError(HomeError):
    """A newer version wrote the home; the message names it."""


def is_older(home: Home, config: Config) -> bool:
    """Whether the home's database has an older schema. A server is asked once: then a file says that it is new.

    Raises NewerHomeError if it has a newer schema than this version knows.
    """
    if not config.store.url:
        schema = schema_of(home.path / "store.sqlite")
    elif _note(config) in _noted(home):
        return False
    elif (schema := _of_server(config)) == NEWEST:
        note_newest(home, config)
    if schema is not None and schema > NEWEST:
        program = f"qa-bot {noted}" if (noted := noted_version(home.path)) else "a newer qa-bot"
        raise NewerHomeError(
            f"Expected a home of schema {NEWEST} or older, but {home.path} has {schema}, made by {program}; install "
            "that version, name another home, or bring back a backup of this version with `qa-bot restore DIR`."
        )
    return schema is not None and schema < NEWEST


def present_schema(home: Home, config: Config) -> str | None:
    """The schema of the home's database; None if there is none, or if its server does not answer."""
    return _of_server(config) if config.store.url else schema_of(home.path / "store.sqlite")


def note_newest(home: Home, config: Config) -> None:
    """Note that the home's server has the newest schema; without the note it is asked again."""
    with suppress(OSError), atomic_file(home.path / SERVER, private=True) as file:
        file.write(_note(config))


def _of_server(config: Config) -> str | None:
    from qa_bot.home.store.copies.database_copy import server_schema  # late: an answer does not import SQLAlchemy
    from qa_bot.home.store.database import StoreError

    try:
        return server_schema(config.store.url)
    except StoreError:  # what needs the store says why
        return None


def _note(config: Config) -> bytes:
    """The schema, and a digest of the address, which may hold a password."""
    return f"{NEWEST} {hashlib.sha256(config.store.url.encode()).hexdigest()}\n".encode()


def _noted(home: Home) -> bytes:
    try:
        return (home.path / SERVER).read_bytes()
    except OSError:
        return b""
