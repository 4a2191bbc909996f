"""The exchange, inside the folder of the home, which may be a mount point.

    HOME/.restoring/         the new content, complete once it holds the file READY
    HOME/.replaced/          the former content, kept until the next exchange

1. The new content is written, fsynced, and `READY` is written: from here on the exchange is finished, whatever happens.
2. Every entry of the home moves to `.replaced`; then `MOVED` is written.
3. Every entry of the new content moves into the home; then `.restoring` is removed.

Opening a home finishes an exchange that was interrupted. Locks stay in their place.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from qa_core.atomic import sync_tree

NEW, FORMER = ".restoring", ".replaced"
READY, MOVED, STARTED, TAKEN = "READY", "MOVED", "STARTED", "TAKEN"


def stage(home: Path) -> Path:
    """An empty folder for the new content; what an earlier attempt left is removed."""
    folder = home / NEW
    if (folder / TAKEN).exists() and not (home / FORMER).exists():
        (folder / "content").rename(home / FORMER)  # an undo that was interrupted
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "content").mkdir(mode=0o700, parents=True)
    return folder / "content"


def swap(home: Path) -> None:
    """Exchange the staged content for the present one."""
    sync_tree(home / NEW)
    (home / NEW / READY).touch()
    finish(home)


def finish(home: Path) -> bool:
    """Finish an exchange whose new content is complete; whether there was one."""
    new, former = home / NEW, home / FORMER
    if not (new / READY).exists():
        return False
    if not (new / MOVED).exists():
        if not (new / STARTED).exists():
            shutil.rmtree(former, ignore_errors=True)
            former.mkdir(mode=0o700)
            (new / STARTED).touch()
        for entry in _entries(home):
            entry.rename(former / entry.name)
        (new / MOVED).touch()
    for entry in sorted((new / "content").iterdir()):
        entry.rename(home / entry.name)
    sync_tree(former)
    shutil.rmtree(new)
    return True


def take_back(home: Path) -> bool:
    """Stage the former content again; whether there was any."""
    former = home / FORMER
    if former.is_dir():
        shutil.rmtree(home / NEW, ignore_errors=True)
        (home / NEW).mkdir(mode=0o700)
        (home / NEW / TAKEN).touch()
        former.rename(home / NEW / "content")
    return (home / NEW / TAKEN).exists()


def _entries(home: Path) -> Iterator[Path]:
    """What is exchanged: everything but locks and the two folders."""
    for entry in sorted(home.iterdir()):
        if entry.name not in (NEW, FORMER) and entry.name != "lock" and entry.suffix != ".lock":
            yield entry
