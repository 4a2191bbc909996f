"""Lists the readable files below a path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.records import Reject


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; `name` is its path below the given folder, with forward slashes."""

    path: Path
    name: str


def files(path: Path) -> Iterator[File | Reject]:
    """The file itself, or all files of a folder, sorted, without hidden ones; each folder is visited once.

    Raises FileNotFoundError if `path` does not exist.
    """
    if not os.path.lexists(path):
        raise FileNotFoundError(f"Expected a file or folder, but {path} does not exist; check the path.")
    if path.is_dir():
        yield from _folder(path, "", set())
    else:
        yield _file(path, path.name)


def _folder(path: Path, prefix: str, seen: set[tuple[int, int]]) -> Iterator[File | Reject]:
    try:
        status = path.stat()
        if (status.st_dev, status.st_ino) in seen:
            return  # a link to a folder that was visited
        seen.add((status.st_dev, status.st_ino))
        entries = sorted(path.iterdir())
    except OSError as error:
        yield Reject(str(path), f"Expected a readable folder, but got {error.strerror}; check its rights.")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _folder(entry, f"{prefix}{entry.name}/", seen)
        else:
            yield _file(entry, prefix + entry.name)


def _file(path: Path, name: str) -> File | Reject:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return Reject(str(path), f"Expected a readable file, but got {error.strerror}; check the link or its rights.")
    if not stat.S_ISREG(mode):
        return Reject(str(path), "Expected a regular file, but got a pipe, socket or device; leave it out.")
    return File(path, name)
