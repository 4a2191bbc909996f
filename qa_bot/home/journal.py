"""The journal: turns that wait beside the database until somebody opens it.

A single `qa-bot ask` would spend a quarter of its time on opening a database only to write one row, and a busy bot
would write its rows while others wait for answers. Turns are appended to the journal instead, and whoever opens the
store next, or asks it for something, puts them in.

    HOME/turns.jsonl           a turn a line
    HOME/turns.taken.jsonl     the same, while it is put in, or when who did so was killed
    HOME/turns.lock            held by whoever touches the first, for no longer than that takes
    HOME/turns.taken.lock      held by whoever puts the second in: the others wait, but nobody who only appends
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from qa_bot.home.config import Config
from qa_bot.home.folder import Home

if TYPE_CHECKING:
    from qa_bot.home.store import Store, Turn

log = logging.getLogger(__name__)

DAY = 86_400.0
"""Seconds."""

FULL = 4_000_000
"""Bytes; a longer journal should be taken up before more is written."""


def append(home: Home, turn: dict[str, Any]) -> int:
    """Keep a turn, as `Store.save_turn` takes it, for later; how long the journal is."""
    with _locked(_journal(home)) as journal, journal.open("ab+") as file:
        line = orjson.dumps(turn) + b"\n"
        file.write(line if _whole(file) else b"\n" + line)
        return file.tell()


def open_store(home: Home, config: Config) -> Store:
    """The home's store, with everything that waited for it put in, and without what is kept no longer.

    Raises:
        StoreError: the database cannot be used; the journal stays as it is.
    """
    from qa_bot.home.store import Store  # late: an answer does not wait for SQLAlchemy

    store = Store.open(home.store_url(config))
    try:
        take_up(home, store)
        expire(config, store)
    except BaseException:
        store.close()
        raise
    return store


def expire(config: Config, store: Store) -> list[str]:
    """Remove what `[conversations] keep` says is over, for good; the ids of the conversations that went."""
    days = config.conversations.keep
    gone, _ = store.expire(time.time() - days * DAY) if days else ([], 0)
    return gone


def take_up(home: Home, store: Store) -> None:
    """Put the journal into the store; without one nothing but two looks at the disk."""
    journal, taken = _journal(home), _taken(home)
    if not any(path.exists() for path in (journal, taken)):
        return
    with _locked(taken):
        if taken.exists():
            _save(taken, store)
        with _locked(journal):
            if not journal.exists():
                return
            journal.replace(taken)
        _save(taken, store)


def _whole(file: BinaryIO) -> bool:
    """Whether the journal ends with a line: whoever wrote last may have been killed."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _save(path: Path, store: Store) -> None:
    """Save turns that are not saved yet (a former try may have been killed), then remove the file."""
    with path.open("rb") as file:
        store.save_new_turns(_turns(file))
    path.unlink()


def _turns(file: BinaryIO) -> Iterator[Turn]:
    from qa_bot.home.store import Turn  # late, as above

    for line in file:
        try:
            turn = orjson.loads(line)
        except orjson.JSONDecodeError:
            log.warning("%s: a turn that was cut short is left out", file.name)
            continue
        yield Turn(**{"created": turn["asked"], **turn})


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """The file, nobody else's for as long; its lock is a file of its own, since it is renamed and removed."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(descriptor)


def _journal(home: Home) -> Path:
    return home.path / "turns.jsonl"


def _taken(home: Home) -> Path:
    return home.path / "turns.taken.jsonl"
