"""The disk that fails on command (`disk.c`), and the files that a loss of power leaves."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from typing import Literal, NamedTuple

SOURCE = Path(__file__).parent / "disk.c"
PowerLoss = Literal["ordered", "strict"]
"""ordered: names of files stay, as on ext4; strict: a folder has the entries of its last fsync."""


class Mode(IntEnum):
    COUNT = 0
    KILL = 1
    ONCE = 2
    STICKY = 3
    STALL = 4


def compiled(folder: Path) -> Path:
    """The shared library, which a process must preload. Raises FileNotFoundError if there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise FileNotFoundError("Expected a C compiler as `cc`, but got none; install gcc or clang.")
    library = folder / "disk.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class Disk:
    """The preloaded library of this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_counted.restype = ctypes.c_long

    def arm(self, home: Path, *, record: Path | None, at: int, mode: Mode, error: int) -> None:
        """Strike at operation `at`, counted from 1 below `home`; note synced contents in `record`."""
        folder = str(record).encode() if record else None
        self._library.faults_arm(str(home).encode(), folder, ctypes.c_long(at), int(mode), error)

    def disarm(self) -> int:
        """The number of counted operations."""
        self._library.faults_disarm()
        return int(self._library.faults_counted())


class Entry(NamedTuple):
    """A file or folder before the operation."""

    path: Path
    """Where its content is now: in a copy that nothing changes."""
    entries: Mapping[str, int] | None
    """Inodes by name; None for a file."""


def inodes_of(home: Path, copy: Path) -> dict[int, Entry]:
    """Every file and folder of a home by inode, with its place in an identical copy."""
    entries = {}
    for path in (home, *home.rglob("*")):
        names = {child.name: child.lstat().st_ino for child in path.iterdir()} if path.is_dir() else None
        entries[path.lstat().st_ino] = Entry(copy / path.relative_to(home), names)
    return entries


def lose_power(home: Path, record: Path, before: Mapping[int, Entry], *, kind: PowerLoss, into: Path) -> None:
    """Write to `into` what stays of a home: the content that each file had at its last fsync, and folders by `kind`."""
    into.mkdir()
    entries = _entries_now(home) if kind == "ordered" else _synced_entries(home.lstat().st_ino, record, before)
    for name, inode in entries.items():
        _restore(home / name, inode, record, before, kind, into / name)


def _restore(live: Path, inode: int, record: Path, before: Mapping[int, Entry], kind: PowerLoss, target: Path) -> None:
    noted = record / f"file-{inode}"
    known = before.get(inode)
    if live.is_dir() if kind == "ordered" else _is_folder(inode, record, known):
        target.mkdir()
        entries = _entries_now(live) if kind == "ordered" else _synced_entries(inode, record, before)
        for name, child in entries.items():
            _restore(live / name, child, record, before, kind, target / name)
    elif noted.exists():
        shutil.copyfile(noted, target)
    elif known is not None:
        shutil.copyfile(known.path, target)
    else:
        target.touch()


def _is_folder(inode: int, record: Path, known: Entry | None) -> bool:
    if (record / f"dir-{inode}").exists():
        return True
    return known is not None and known.entries is not None and not (record / f"file-{inode}").exists()


def _entries_now(folder: Path) -> Mapping[str, int]:
    return {child.name: child.lstat().st_ino for child in folder.iterdir()}


def _synced_entries(inode: int, record: Path, before: Mapping[int, Entry]) -> Mapping[str, int]:
    noted = record / f"dir-{inode}"
    if noted.exists():
        pairs = (line.rsplit("\t", 1) for line in noted.read_text().splitlines())
        return {name: int(number) for name, number in pairs}
    known = before.get(inode)
    return known.entries or {} if known else {}
