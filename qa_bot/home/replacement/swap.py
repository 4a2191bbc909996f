"""The exchange, inside the folder of the home, which may be a mount point.

    HOME/.restoring/         the new content, complete once it holds the file READY
    HOME/.replaced/          the former content, kept until the next exchange

1. The new content is written, fsynced, and `READY` is written: from here on the exchange is finished, whatever happens.
2. Every entry of the home moves to `.replaced`; then `MOVED` is written.
3. Every entry of the new content moves into the home; then `READY` is removed, and with it `.restoring`.

Every step is durable before the next one begins, and none of them harms if it is done again. A folder that gains an
entry is fsynced before the one that loses it, so that a loss of power leaves the entry in one of them or in both.
Opening a home finishes an exchange that was interrupted. Locks stay in their place.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from qa_core.atomic import locked_folder, sync, sync_tree

NEW, FORMER = ".restoring", ".replaced"
READY, MOVED, STARTED, TAKEN = "READY", "MOVED", "STARTED", "TAKEN"


def stage(home: Path) -> Path:
    """An empty folder for the new content; what an earlier attempt left is removed."""
    sweep(home)
    folder = home / NEW / "content"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def sweep(home: Path) -> None:
    """Remove what an interrupted `restore` staged; what an interrupted `undo` took is kept again."""
    new, former = home / NEW, home / FORMER
    if not new.exists() or (new / READY).exists():
        return
    if (new / TAKEN).exists() and not former.exists() and (new / "content").exists():
        (new / "content").rename(former)
        sync(home)
    shutil.rmtree(new)


def swap(home: Path) -> None:
    """Exchange the staged content for the present one."""
    sync_tree(home / NEW)
    sync(home)
    _note(home / NEW / READY)
    finish(home)


def finish(home: Path) -> bool:
    """Finish an exchange whose new content is complete; whether there was one.

    Raises OSError if the disk fails; the next call goes on.
    """
    new, former = home / NEW, home / FORMER
    if not (new / READY).exists():
        return False
    try:
        with locked_folder(new):
            if (new / READY).exists():  # otherwise another process has finished it meanwhile
                _finish(home, new, former)
    except FileNotFoundError:
        if (new / READY).exists():
            raise
    return True


def _finish(home: Path, new: Path, former: Path) -> None:
    if not (new / MOVED).exists():
        if not (new / STARTED).exists():
            shutil.rmtree(former, ignore_errors=True)
            former.mkdir(mode=0o700)
            sync(home)
            _note(new / STARTED)
        for entry in _entries(home):
            if entry.suffix == ".part":  # of a writer that was killed
                entry.unlink()
            else:
                _move(entry, former / entry.name)
        _sync_both(former, home)
        _note(new / MOVED)
    content = new / "content"
    for entry in sorted(content.iterdir()) if content.exists() else ():
        _move(entry, home / entry.name)
    if content.exists():
        _sync_both(home, content)
    (new / READY).unlink()
    sync(new)
    shutil.rmtree(new)
    sync(home)


def take_back(home: Path) -> bool:
    """Stage the former content again; whether there was any."""
    new, former = home / NEW, home / FORMER
    if former.is_dir():
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        sync(home)
        _note(new / TAKEN)
        former.rename(new / "content")
        _sync_both(new, home)
    return (new / TAKEN).exists()


def _note(path: Path) -> None:
    """Make an empty file, durably."""
    path.touch()
    sync(path)
    sync(path.parent)


def _move(entry: Path, target: Path) -> None:
    """Rename; what a loss of power left at the target is a copy of the entry."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    entry.rename(target)


def _sync_both(gains: Path, loses: Path) -> None:
    sync(gains)
    sync(loses)


def _entries(home: Path) -> Iterator[Path]:
    """What is exchanged: everything but locks and the two folders."""
    for entry in sorted(home.iterdir()):
        if entry.name not in (NEW, FORMER) and entry.name != "lock" and entry.suffix != ".lock":
            yield entry
