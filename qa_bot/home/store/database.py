"""Opens the database: engines, transactions, schema version, and one-line errors."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from qa_bot.home.store.schema import REVISIONS
from qa_bot.home.store.schema import storable as storable
from qa_core.slow_disk import reported_if_slow

BUSY_SECONDS = 10
GLANCE_SECONDS = 0.01
_WRITING = "qa_bot_writing"
_NEWEST = Path(__file__).parent / "migrations" / "newest.sql"
_MIGRATION_LOCK = 7_106_452_013  # any fixed number
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_REASONS = (
    ("file is not a database", "the file is no SQLite database; bring back a backup with `qa-bot restore DIR`"),
    ("malformed", "the database is damaged; bring back a backup with `qa-bot restore DIR`"),
    ("disk is full", "the disk is full; make room, then run the command again"),
    ("no space left", "the disk is full; make room, then run the command again"),
    ("could not extend file", "the disk is full; make room, then run the command again"),
    ("disk i/o error", "the disk failed or is full; check it, then run the command again"),
    ("readonly database", "it is read-only; change its owner, its mode or its mount"),
    ("read-only transaction", "it is read-only; connect to the primary server"),
    ("is locked", f"another process kept it locked for {BUSY_SECONDS} s; try again"),
    ("unable to open database file", "its folder is missing, full or without rights; mend that or change [store] url"),
    ("connection refused", "no server answers there; start it or change [store] url"),
    ("no such file or directory", "no server answers there; start it or change [store] url"),
    ("password authentication failed", "the server refused user or password; change [store] url"),
)


class StoreError(Exception):
    """The database failed; one line that says why and what to do."""


class _Joined(NamedTuple):
    """A transaction that all methods of stores of one database take part in."""

    url: URL
    connection: Connection


_joined: ContextVar[_Joined | None] = ContextVar("joined", default=None)


def open_engine(url: str) -> Engine:
    """An engine whose transactions behave the same on SQLite and PostgreSQL; it does not connect yet."""
    parsed = expect_url(url)
    try:
        return _prepared(create_engine(parsed, **_options(parsed.drivername)))
    except ModuleNotFoundError:
        raise StoreError(
            'Expected psycopg for PostgreSQL, but it is missing; run pip install "qa-bot[postgres]".'
        ) from None


def expect_url(url: str) -> URL:
    """The URL with the driver that is used for it. Raises StoreError if it is malformed or names another database."""
    try:
        parsed = _parsed(url)
        return parsed.set(drivername=_DRIVERS[parsed.drivername.partition("+")[0]])
    except (ArgumentError, KeyError, ValueError):  # the last for a port that is not a number
        raise StoreError(
            f"Expected a URL sqlite:///… or postgresql://… as [store] url, but got {_hidden(url)}."
        ) from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads: a consistent snapshot that does not wait for writers."""
    if (joined := _joined_by(engine)) is not None:
        yield joined
        return
    with one_line_errors(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes. It takes SQLite's lock at the start: a reader that becomes a writer midway fails at
    once, without waiting, if another process wrote in between. It is durable at its end."""
    if (joined := _joined_by(engine)) is not None:
        yield joined
        return
    writer = engine.execution_options(**{_WRITING: True})
    with one_line_errors(engine), writer.connect() as connection, connection.begin() as transaction:
        yield connection
        with reported_if_slow(engine.url.database or "the database"):
            transaction.commit()


@contextmanager
def joined_transaction(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes, which every `reading` and `writing` of this thread joins until it ends."""
    with writing(engine) as connection:
        token = _joined.set(_Joined(engine.url, connection))
        try:
            yield connection
        finally:
            _joined.reset(token)


def _joined_by(engine: Engine) -> Connection | None:
    joined = _joined.get()
    return joined.connection if joined is not None and joined.url == engine.url else None


@contextmanager
def one_line_errors(engine: Engine) -> Iterator[None]:
    """Turn SQLAlchemy's errors into a StoreError of one line."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:  # the second when a connection is opened
        shown = engine.url.database if engine.dialect.name == "sqlite" else engine.url.render_as_string()
        raise StoreError(f"Expected to use the store {shown}, but got: {_reason(error)}.") from error


def ensure_schema(engine: Engine) -> tuple[str | None, str]:
    """Migrate to the newest schema; the revisions before and after. Raises StoreError for a newer schema."""
    with reading(engine) as connection:
        before = revision_of(connection)
    if before != REVISIONS[-1]:
        with writing(engine) as connection:
            _migrate(connection)
    return before, REVISIONS[-1]


def migrate(url: str) -> tuple[str | None, str]:
    """Migrate a database to the newest schema; the revisions before (None if it was empty) and after."""
    engine = open_engine(url)
    try:
        return ensure_schema(engine)
    finally:
        engine.dispose()


def file_of(engine: Engine) -> tuple[int, int] | None:
    """Device and inode of SQLite's file; None without a file, and for a server."""
    if engine.dialect.name != "sqlite":
        return None
    try:
        state = os.stat(engine.url.database or "")  # noqa: PTH116  # asked before each use of the store
    except OSError:
        return None
    return state.st_dev, state.st_ino


def probe(engine: Engine) -> None:
    """Read the revision through a new connection; raises StoreError if the database is damaged or unreachable.

    Connections of the pool would answer from their cache though the file is gone.
    """
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").exists():
        raise gone(engine)
    fresh = open_engine(engine.url.render_as_string(hide_password=False))
    try:
        with reading(fresh) as connection:
            connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    finally:
        fresh.dispose()


def gone(engine: Engine) -> StoreError:
    """The error for a file that was removed."""
    return StoreError(f"Expected the store {engine.url.database}, but it is gone; put back a copy of it.")


def empty_journal(engine: Engine) -> None:
    """Remove deleted rows from SQLite's journal, unless a reader still needs it."""
    if engine.dialect.name == "sqlite":
        with one_line_errors(engine), engine.connect() as connection:
            connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()


def _parsed(url: str) -> URL:
    """A SQLite path may hold any characters after `sqlite:///`; other URLs are parsed as usual."""
    scheme, separator, path = url.partition(":///")
    return URL.create("sqlite", database=path) if separator and scheme == "sqlite" else make_url(url)


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
    connection.isolation_level = None  # sqlite3 would begin transactions too late
    _write_ahead(connection)
    for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _write_ahead(connection: Any) -> None:
    """Switch to write-ahead logging; retries, since a new database fails at once while another process switches it."""
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


def revision_of(connection: Connection) -> str | None:
    """The schema; None before the first migration. Raises StoreError if a newer qa-bot made it."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision is not None and revision not in REVISIONS:
        raise StoreError(
            f"Expected a store of schema {REVISIONS[-1]} or older, but got {revision}, made by a newer qa-bot; "
            "install that version, or name another home or [store] url."
        )
    return revision


def _migrate(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
    before = revision_of(connection)
    if before is None and connection.dialect.name == "sqlite":
        _create(connection)
    elif before != REVISIONS[-1]:  # otherwise another process has migrated
        from qa_bot.home.store.migrations import upgrade  # slow to import, and rarely needed

        upgrade(connection)


def _create(connection: Connection) -> None:
    """Make what all migrations make of an empty SQLite database; they take .2 s, most of it to import Alembic."""
    for statement in _NEWEST.read_text(encoding="utf-8").split("\n\n"):
        connection.exec_driver_sql(statement)


def _reason(error: SQLAlchemyError | sqlite3.Error) -> str:
    original = str(error.orig if isinstance(error, DBAPIError) else error)
    for part, reason in _REASONS:
        if part in original.lower():
            return reason
    return " ".join(original.split()) or type(error).__name__


def _hidden(url: str) -> str:
    return re.sub(r"(?<=:)[^:/@]+(?=@)", "********", url) or "nothing"
