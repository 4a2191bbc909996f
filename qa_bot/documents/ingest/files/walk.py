"""Lists the readable files below a path."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.home.replacement.program_version import FILE as VERSION_FILE
from qa_core.text.safe_text import escaped

SYSTEM_FILES = {"thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "system volume information"}
"""What Windows and macOS leave in shared folders; files that begin with `~$` say that Office has a document open."""
PAGES = (".html", ".htm")
PARTS_OF_PAGE = re.compile(r"(.+)(?:_files|-Dateien|_fichiers|_archivos|_bestanden)")
"""The folder beside a page that a browser saved: pages in it are frames, such as advertisements."""


HOME_FILES = {"lock", VERSION_FILE}
"""What every home of qa-bot has: a folder with both is one, and no documents."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; `name` is its path below the given folder, with forward slashes, as text that can be stored."""

    path: Path
    name: str


def files(path: Path) -> Iterator[File | Reject | Notice]:
    """The file itself, or all files of a folder, sorted, without hidden ones and those of the system.

    Each folder is visited once.

    Links that leave the folder are not followed: a notice names each of them.

    Raises FileNotFoundError if `path` does not exist.
    """
    if not os.path.lexists(path):
        raise FileNotFoundError(f"Expected a file or folder, but {path} does not exist; check the path.")
    if path.is_dir():
        yield from _folders(path)
    else:
        yield _file(path, path.name)


def printable(name: str) -> str:
    """A file name of any bytes as text that can be stored and printed (`caf\\xe9.txt`, `a\\nb.txt`)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        name = os.fsencode(name).decode("utf-8", "backslashreplace")
    return escaped(name)


def _folders(root: Path) -> Iterator[File | Reject | Notice]:
    """Without recursion: folders may be nested more deeply than calls."""
    real_root = root.resolve()
    seen: set[tuple[int, int]] = set()
    stack = [(root, "")]  # folders and files still to come, the next one last
    while stack:
        path, name = stack.pop()
        try:
            if name and path.is_symlink() and not _resolved(path).is_relative_to(real_root):
                yield Notice(printable(str(path)), f"A link out of the folder, not followed; add {_resolved(path)}.")
            elif path.is_dir():
                status = path.stat()
                if (status.st_dev, status.st_ino) not in seen:  # a link to a folder that was visited
                    seen.add((status.st_dev, status.st_ino))
                    entries = _entries(path, f"{name}/" if name else "")
                    if entries is None:
                        yield Notice(printable(str(path)), "A home of qa-bot, which has no documents; it is skipped.")
                    stack += entries or ()
            else:
                yield _file(path, name)
        except OSError as error:
            yield Reject(
                printable(str(path)), f"Expected a readable folder, but got {error.strerror}; check its rights."
            )


def _entries(folder: Path, prefix: str) -> list[tuple[Path, str]] | None:
    """What is in a folder, the last first; None if it is a home of qa-bot."""
    entries = sorted((path for path in folder.iterdir() if not _is_hidden(path.name)), reverse=True)
    if HOME_FILES.issubset(path.name for path in entries):
        return None
    if prefix and _has_parts_of_page(folder):
        entries = [path for path in entries if path.suffix.lower() not in PAGES]
    return [(path, prefix + path.name) for path in entries]


def _has_parts_of_page(folder: Path) -> bool:
    match = PARTS_OF_PAGE.fullmatch(folder.name)
    return match is not None and any((folder.parent / f"{match[1]}{suffix}").is_file() for suffix in PAGES)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name.lower() in SYSTEM_FILES


def _resolved(link: Path) -> Path:
    try:
        return link.resolve()
    except RuntimeError as error:  # a circle of links
        raise OSError(0, "a circle of links") from error


def _file(path: Path, name: str) -> File | Reject | Notice:
    where = printable(str(path))
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return Reject(where, f"Expected a readable file, but got {error.strerror}; check the link or its rights.")
    if not stat.S_ISREG(mode):
        return Notice(where, "Expected a regular file, but got a pipe, socket or device; it is skipped.")
    return File(path, printable(name))
