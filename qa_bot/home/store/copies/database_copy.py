"""Copies a database to a SQLite file, and the rows of such a file back.

SQLite is copied by its backup interface, PostgreSQL row by row in one transaction. Both are snapshots, and neither
makes readers or writers wait.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, MetaData, Table, delete, func, insert, select

from qa_bot.home.store.database import (
    StoreError,
    ensure_schema,
    one_line_errors,
    open_engine,
    reading,
    revision_of,
    writing,
)
from qa_bot.home.store.schema import collections, feedback, metadata, sources

BATCH = 1000
"""Rows that are copied at once."""


def copy_database(url: str, target: Path) -> None:
    """Write a snapshot of a database to a new SQLite file. Raises StoreError if it cannot be read, or is damaged."""
    engine = open_engine(url)
    try:
        if engine.dialect.name == "sqlite":
            _copy_file(Path(str(engine.url.database)), target)
        else:
            with (
                one_line_errors(engine),
                engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection,
            ):
                _copy_rows_out(connection, target)
    finally:
        engine.dispose()


def replace_rows(url: str, source: Path) -> None:
    """Replace all rows of a database by those of a SQLite file, in one transaction."""
    engine, origin = open_engine(url), open_engine(f"sqlite:///{source}")
    try:
        ensure_schema(engine)
        ensure_schema(origin)
        with one_line_errors(origin), origin.connect() as rows, writing(engine) as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(delete(table))
            for table in metadata.sorted_tables:
                _copy_table(rows, connection, table, table)
            if connection.dialect.name == "postgresql":
                _advance_sequences(connection)
    finally:
        engine.dispose()
        origin.dispose()


def server_schema(url: str) -> str | None:
    """The schema of a database, which is not migrated; None before the first migration. Raises StoreError."""
    engine = open_engine(url)
    try:
        with reading(engine) as connection:
            return revision_of(connection)
    finally:
        engine.dispose()


class StoredCounts(NamedTuple):
    """`generation` is None if no documents were ever added."""

    documents: int
    turns: int
    generation: int | None


def counts_of(source: Path) -> StoredCounts:
    """The content of a SQLite file, of whatever schema. Raises StoreError if it holds no tables."""
    queries = (
        "SELECT count(*) FROM documents WHERE retired IS NULL",
        "SELECT count(*) FROM turns",
        "SELECT max(number) FROM generations WHERE state = 'current'",
    )
    try:
        with closing(sqlite3.connect(source)) as connection:
            return StoredCounts(*(connection.execute(query).fetchone()[0] for query in queries))
    except sqlite3.Error as error:
        raise StoreError(f"Expected a database with documents and turns, but got: {error}.") from None


def _copy_file(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            faults = [row[0] for row in copy.execute("PRAGMA quick_check(1)") if row[0] != "ok"]
    except sqlite3.Error as error:
        raise StoreError(f"Expected to copy the store {source}, but got: {error}; run `qa-bot doctor`.") from None
    if faults:
        raise StoreError(f"Expected a whole store in {source}, but got: {faults[0]}; run `qa-bot repair`.")


def _copy_rows_out(connection: Connection, target: Path) -> None:
    """Copy all tables, at whatever schema they are: the copy is made by the migrations up to it."""
    from qa_bot.home.store.migrations import upgrade  # slow to import, and rarely needed

    origin = MetaData()
    origin.reflect(connection)
    copy = open_engine(f"sqlite:///{target}")
    try:
        with copy.begin() as opened:
            if (schema := revision_of(connection)) is not None:
                upgrade(opened, to=schema)
            tables = [table for table in metadata.sorted_tables if table.name in origin.tables]
            for table in reversed(tables):  # rows of migrations
                opened.execute(delete(table))
            for table in tables:
                _copy_table(connection, opened, origin.tables[table.name], table)
        with copy.connect() as opened:
            opened.connection.cursor().execute("PRAGMA journal_mode = DELETE").close()
    finally:
        copy.dispose()


def _copy_table(rows: Connection, into: Connection, origin: Table, table: Table) -> None:
    names = [column.name for column in origin.columns if column.name in table.columns]
    keys = (column for column in table.primary_key.columns if column.name in names)
    query = select(*(table.columns[name] for name in names)).order_by(*keys)
    result = rows.execute(query.execution_options(yield_per=BATCH)).mappings()
    for batch in result.partitions(BATCH):
        into.execute(insert(table), [dict(row) for row in batch])


def _advance_sequences(connection: Connection) -> None:
    """Have the database number new rows after the copied ones."""
    for table in (collections, sources, feedback):
        following = select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
        sequence = func.pg_get_serial_sequence(table.name, "id")
        connection.execute(select(func.setval(sequence, following, False)))  # a function of SQL
