"""Opening a database: engines, transactions, the schema's version, and errors in one line."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from qa_bot.home.store.schema import REVISIONS

BUSY_SECONDS = 10
GLANCE_SECONDS = 0.01
_WRITING = "qa_bot_writing"
_MIGRATION_LOCK = 7_106_452_013  # any number, as long as every process of ours takes the same
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_REASONS = (
    ("file is not a database", "the file is no SQLite database; move it away or name another with [store] url"),
    ("malformed", "the database is damaged; put back a copy of it"),
    ("disk is full", "the disk is full; make room, then run the command again"),
    ("no space left", "the disk is full; make room, then run the command again"),
    ("could not extend file", "the disk is full; make room, then run the command again"),
    ("readonly database", "it is read-only; change its owner, its mode or its mount"),
    ("read-only transaction", "it is read-only; connect to the primary server"),
    ("is locked", f"another process kept it locked for {BUSY_SECONDS} s; try again"),
    ("unable to open database file", "its folder is missing or without rights; mend that or change [store] url"),
    ("connection refused", "no server answers there; start it or change [store] url"),
    ("no such file or directory", "no server answers there; start it or change [store] url"),
    ("password authentication failed", "the server refused user or password; change [store] url"),
)


class StoreError(Exception):
    """The database cannot do what was asked; one line that says why and what to do."""


def open_engine(url: str) -> Engine:
    """An engine whose transactions behave alike on SQLite and PostgreSQL; nothing is connected yet."""
    try:
        parsed = _parsed(url)
        drivername = _DRIVERS[parsed.drivername.partition("+")[0]]
        return _prepared(create_engine(parsed.set(drivername=drivername), **_options(drivername)))
    except (ArgumentError, KeyError):
        raise StoreError(
            f"Expected a URL sqlite:///… or postgresql://… as [store] url, but got {_hidden(url)}."
        ) from None
    except ModuleNotFoundError:
        raise StoreError(
            'Expected psycopg for PostgreSQL, but it is missing; run pip install "qa-bot[postgres]".'
        ) from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that only reads: a consistent picture that waits for no writer."""
    with told(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes. SQLite's lock is taken at its start: a reader that turns writer midway would fail
    at once, without waiting, where somebody else wrote in between."""
    with told(engine), engine.execution_options(**{_WRITING: True}).begin() as connection:
        yield connection


@contextmanager
def told(engine: Engine) -> Iterator[None]:
    """Turn the library's errors into a StoreError of one line."""
    try:
        yield
    except SQLAlchemyError as error:
        shown = engine.url.database if engine.dialect.name == "sqlite" else engine.url.render_as_string()
        raise StoreError(f"Expected to use the store {shown}, but got: {_reason(error)}.") from error


def ensure_schema(engine: Engine) -> tuple[str | None, str]:
    """Bring the tables to the newest schema; the revisions before and after. A newer one than ours is refused."""
    with reading(engine) as connection:
        before = _revision(connection)
    if before != REVISIONS[-1]:
        with writing(engine) as connection:
            _migrate(connection)
    return before, REVISIONS[-1]


def empty_journal(engine: Engine) -> None:
    """Leave nothing of deleted rows in SQLite's journal, as far as no reader still needs it."""
    if engine.dialect.name == "sqlite":
        with told(engine), engine.connect() as connection:
            connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()


def storable(value: str) -> str:
    """Without the code points that a database refuses (NUL, lone surrogates); spans stay right: one for one."""
    if value.isascii() and "\x00" not in value:  # nearly every text, and much faster to tell
        return value
    return _UNSTORABLE.sub("\ufffd", value)


def _parsed(url: str) -> URL:
    """After `sqlite:///` stands a path, whatever characters it has; other URLs are as usual."""
    scheme, found, path = url.partition(":///")
    return URL.create("sqlite", database=path) if found and scheme == "sqlite" else make_url(url)


def _options(drivername: str) -> dict[str, Any]:
    shared = {"json_serializer": _dumps, "hide_parameters": True}  # no text of users in errors and logs
    if drivername == "sqlite":
        return {**shared, "connect_args": {"timeout": BUSY_SECONDS}}
    return {**shared, "pool_pre_ping": True, "connect_args": {"connect_timeout": BUSY_SECONDS}}


def _dumps(value: object) -> str:
    return storable(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _prepared(engine: Engine) -> Engine:
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the module would begin transactions by itself, and too late
    _write_ahead(connection)
    for pragma in ("synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _write_ahead(connection: Any) -> None:
    """Choose the journal; a new database refuses that at once, without waiting, while somebody else chooses it too."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(GLANCE_SECONDS)
        else:
            return


def _on_begin(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found is not None and found not in REVISIONS:
        raise StoreError(
            f"Expected a store of schema {REVISIONS[-1]} or older, but got {found}, made by a newer qa-bot; "
            "install that version, or name another home or [store] url."
        )
    return found


def _migrate(connection: Connection) -> None:
    from qa_bot.home.store.migrations import upgrade  # slow to import, and rarely needed

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
    if _revision(connection) != REVISIONS[-1]:  # else another process was faster
        upgrade(connection)


def _reason(error: SQLAlchemyError) -> str:
    original = str(error.orig if isinstance(error, DBAPIError) else error)
    for part, reason in _REASONS:
        if part in original.lower():
            return reason
    return " ".join(original.split()) or type(error).__name__


def _hidden(url: str) -> str:
    return re.sub(r"(?<=:)[^:/@]+(?=@)", "********", url) or "nothing"
