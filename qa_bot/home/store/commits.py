"""The token of the last commit, and transactions that several methods of the store take part in."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, inspect, select, update

from qa_bot.home.store.database import joined_transaction, open_engine, reading, writing
from qa_bot.home.store.schema import commits

ROW = 1
"""The key of the only row."""


class CommitStore:
    """What one commit of a home needs of its database (see `qa_bot.home.generations.commit`)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction of all that this thread reads and writes in the block, by any store of this database."""
        with joined_transaction(self._engine):
            yield

    def mark(self, token: str) -> None:
        """Write the token of a commit in place of the last one."""
        with writing(self._engine) as connection:
            _write(connection, token)

    def settle(self, token: str) -> bool:
        """Whether the transaction with this token was committed. If not, it cannot be any more.

        The row is locked, so a transaction that a dead client left in the server ends first. Then another token is
        written in place of the last one: a commit whose fsync failed is not found later.
        """
        with writing(self._engine) as connection:
            last = connection.execute(select(commits.c.token).where(commits.c.id == ROW).with_for_update()).scalar()
            if last == token:
                return True
            _write(connection, uuid.uuid4().hex)
        return False


def has_committed(url: str, token: str) -> bool:
    """Whether a database, which is not migrated or created, holds a token. Raises StoreError if it cannot be read."""
    engine = open_engine(url)
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
        return False
    try:
        with reading(engine) as connection:
            if not inspect(connection).has_table(commits.name):
                return False
            return connection.execute(select(commits.c.token).where(commits.c.id == ROW)).scalar() == token
    finally:
        engine.dispose()


def _write(connection: Connection, token: str) -> None:
    values = {"token": token, "committed": time.time()}
    if not connection.execute(update(commits).where(commits.c.id == ROW).values(**values)).rowcount:
        connection.execute(insert(commits).values(id=ROW, **values))
