"""The journal: turns that wait in a file until the database is next opened or read.

Opening the database only to write one row would take a quarter of the time of `qa-bot ask`, and in a busy service
writes would delay answers. So turns are appended to the journal, and the next user of the store saves them.

    HOME/turns.jsonl           one turn a line, with a checksum after a tab
    HOME/turns.taken.jsonl     the same while it is being saved, or after that process was killed
    HOME/turns.damaged.jsonl   lines that could not be read, for their owner to look at
    HOME/turns.lock            held for an instant by each process that reads or writes the first file
    HOME/turns.taken.lock      held while the second file is saved; appending does not wait for it
"""

from __future__ import annotations

import errno
import logging
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from qa_bot.home.config import Config
from qa_bot.home.expiry import expire
from qa_bot.home.folder import Home, file_lock
from qa_core.atomic import sync
from qa_core.slow_disk import reported_if_slow

if TYPE_CHECKING:
    from qa_bot.home.store import Store, Turn

log = logging.getLogger(__name__)

DAMAGED = "turns.damaged.jsonl"
_FIELDS = frozenset({"id", "question", "answer", "asked"})
FULL = 4_000_000
"""Bytes; a longer journal should be saved before more is written."""


def append(home: Home, turn: dict[str, Any]) -> int:
    """Append a turn with the arguments of `Store.save_turn`, and return the journal's size in bytes.

    The turn is on the disk then. Raises OSError if the disk fails or is full; no part of the turn is kept.
    """
    with ExitStack() as opened:
        with _locked(_journal(home)) as journal:
            file = opened.enter_context(FileIO(journal, "ab+"))
            before = file.seek(0, os.SEEK_END)
            line = sealed(orjson.dumps(turn))
            _write(file, line if _whole(file) else b"\n" + line, before)
            size = file.tell()
        with reported_if_slow(home.path):
            os.fsync(file.fileno())  # others may append meanwhile
        if not before:
            sync(home.path)
    return size


def _write(file: FileIO, line: bytes, before: int) -> None:
    """Write a line at the end of a file of `before` bytes, whole or not at all."""
    try:
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
    except OSError:
        file.truncate(before)
        raise


def open_store(home: Home, config: Config) -> Store:
    """Open the home's store, save the journal in it, and delete expired conversations.

    Raises:
        StoreError: the database cannot be used; the journal is unchanged.
    """
    from qa_bot.home.store import Store  # late: an answer does not import SQLAlchemy

    store = Store.open(home.store_url(config))
    try:
        take_up(home, store)
        expire(home, config, store)
    except BaseException:
        store.close()
        raise
    return store


def take_up(home: Home, store: Store) -> None:
    """Save the journal in the store; if there is none, only check for its two files."""
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


def _whole(file: FileIO) -> bool:
    """Whether the journal ends with a complete line; its last writer may have been killed."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def sealed(turn: bytes) -> bytes:
    """A line of the journal."""
    return b"%b\t%08x\n" % (turn, zlib.crc32(turn))


def check_journal(home: Home) -> str:
    """The number of turns that wait; raises OSError if a line is damaged."""
    files = [path.read_bytes() for path in (_journal(home), _taken(home)) if path.exists()]
    lines = [line for content in files for line in content.splitlines(keepends=True)]
    unreadable = [line for line in lines if line.strip() and _turn(line.rstrip(b"\n")) is None]
    damaged, waiting = sum(line.endswith(b"\n") for line in unreadable), len(lines)
    aside = home.path / DAMAGED
    if damaged:
        raise OSError(
            f"{damaged:,} of {waiting:,} turns that wait in {_journal(home)} are damaged; run `qa-bot repair`, which "
            f"saves the others and keeps the damaged ones in {aside}."
        )
    cut = "; the last one was cut short, when its writer was killed" if unreadable else ""
    note = f"; damaged turns are kept in {aside}" if aside.exists() else ""
    return f"{waiting:,} turns wait{cut}{note}"


def _save(path: Path, store: Store) -> None:
    """Save the turns that an earlier, killed attempt did not save, then remove the file."""
    with path.open("rb") as file:
        store.save_new_turns(_turns(file))
    path.unlink()


def _turns(file: BinaryIO) -> Iterator[Turn]:
    from qa_bot.home.store import Turn  # late, as above

    for line in filter(bytes.strip, file):
        turn = _turn(line.rstrip(b"\n"))
        if turn is not None:
            yield Turn(**{"created": turn["asked"], **turn})
        elif line.endswith(b"\n"):
            _keep_aside(line, Path(file.name).with_name(DAMAGED))
        else:
            log.warning("%s: skipped a turn that was cut short, when its writer was killed", file.name)


def _keep_aside(line: bytes, aside: Path) -> None:
    """Keep a damaged line once, though an interrupted attempt may come again."""
    if aside.exists() and line in aside.read_bytes().splitlines(keepends=True):
        return
    aside.touch(mode=0o600)
    with aside.open("ab") as file:
        file.write(line)
    log.warning("A turn in the journal is damaged and cannot be saved; it is kept in %s.", aside)


def _turn(line: bytes) -> dict[str, Any] | None:
    """The turn of a line; None if the line is damaged. Lines of version 0.1 have no checksum."""
    content, separator, checksum = line.rpartition(b"\t")
    if separator and b"%08x" % zlib.crc32(content) != checksum:
        return None
    try:
        turn: dict[str, Any] = orjson.loads(content if separator else line)
    except orjson.JSONDecodeError:
        return None
    return turn if isinstance(turn, dict) and turn.keys() >= _FIELDS else None


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """Exclusive access to the file. The lock is a separate file because the journal is renamed and removed."""
    with file_lock(path.with_suffix(".lock")):
        yield path


def _journal(home: Home) -> Path:
    return home.path / "turns.jsonl"


def _taken(home: Home) -> Path:
    return home.path / "turns.taken.jsonl"
