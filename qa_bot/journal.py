"""The journal: turns that wait beside the database until somebody opens it.

A single `qa-bot ask` would spend a quarter of its time on opening a database only to write one row, and a busy bot
would write its rows while others wait for answers. Turns are appended to the journal instead, and whoever opens the
store next, or asks it for something, puts them in.

    HOME/turns.jsonl           a turn a line
    HOME/turns.taken.jsonl     the same, while it is put in, or when who did so was killed
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from qa_bot.config import Config
from qa_bot.home import Home

if TYPE_CHECKING:
    from qa_bot.store import Store

log = logging.getLogger(__name__)


FULL = 4_000_000
"""Bytes; a longer journal should be taken up before more is written."""


def append(home: Home, turn: dict[str, Any]) -> int:
    """Keep a turn, as `Store.save_turn` takes it, for later; how long the journal is."""
    with _locked(home) as journal, journal.open("ab+") as file:
        line = orjson.dumps(turn) + b"\n"
        file.write(line if _whole(file) else b"\n" + line)
        return file.tell()


def open_store(home: Home, config: Config) -> Store:
    """The home's store, with everything that waited for it put in.

    Raises:
        StoreError: the database cannot be used; the journal stays as it is.
    """
    from qa_bot.store import Store  # late: an answer does not wait for SQLAlchemy

    store = Store.open(home.store_url(config))
    try:
        take_up(home, store)
    except BaseException:
        store.close()
        raise
    return store


def take_up(home: Home, store: Store) -> None:
    """Put the journal into the store; without one nothing but two looks at the disk."""
    if not any(path.exists() for path in (_journal(home), _taken(home))):
        return
    with _locked(home) as journal:
        for path in (_taken(home), journal):
            if path.exists():
                path.replace(_taken(home))
                _save(_taken(home), store)


def _whole(file: BinaryIO) -> bool:
    """Whether the journal ends with a line: whoever wrote last may have been killed."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _save(path: Path, store: Store) -> None:
    """Save turns that are not saved yet (a former try may have been killed), then remove the file."""
    for line in path.read_bytes().splitlines():
        try:
            turn = orjson.loads(line)
        except orjson.JSONDecodeError:
            log.warning("%s: a turn that was cut short is left out", path)
            continue
        if not store.has_turn(turn["id"]):
            store.save_turn(**turn)
    path.unlink()


@contextmanager
def _locked(home: Home) -> Iterator[Path]:
    """The journal, nobody else's for as long; its lock is a file of its own, since the journal is renamed."""
    descriptor = os.open(home.path / "turns.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield _journal(home)
    finally:
        os.close(descriptor)


def _journal(home: Home) -> Path:
    return home.path / "turns.jsonl"


def _taken(home: Home) -> Path:
    return home.path / "turns.taken.jsonl"
