"""Atomic writes of files and folders: after a crash the old version is there or the new one, never a part."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from qa_core.slow_disk import reported_if_slow


@contextmanager
def atomic_file(path: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[IO[bytes]]:
    """A new file to write and read; leaving the block renames it to `path`, an error leaves the old file.

    Args:
        overwrite: whether an existing file may be replaced.
        private: give only the owner access (mode 600).

    Raises:
        FileExistsError: if `path` exists and may not be replaced, or is not a file.
        OSError: if the folder is missing or read-only, or the disk is full.
    """

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600 if private else 0o666)

    with atomic_path(path, overwrite=overwrite) as partial, open(partial, "x+b", opener=create) as file:
        yield file


@contextmanager
def atomic_path(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """As `atomic_file`, for writers that take a path: the block writes the file at the yielded path."""
    check_writable(path, overwrite=overwrite)
    partial = path.absolute().with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield partial
        sync(partial)
        check_writable(path, overwrite=overwrite)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync(partial.parent)


def remove_partial(path: Path) -> None:
    """Remove the partial files that killed writers of `path` left; another writer that is at work gets an OSError."""
    for partial in path.absolute().parent.iterdir():
        if partial.name.startswith(f".{path.name}.") and partial.suffix == ".part":
            partial.unlink(missing_ok=True)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Wait until no other process holds this lock of a folder; the kernel releases it when its process ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Raises FileExistsError if `path` may not be replaced, FileNotFoundError if its folder is missing."""
    if path.exists() and not path.is_file():
        raise FileExistsError(f"Expected a file to write, but {path} is not a file; name another.")
    if path.exists() and not overwrite:
        raise FileExistsError(f"Expected a new file, but got {path}, which exists; name another, or add --force.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"Expected a folder for {path.name}, but {path.parent} is not a folder; create it.")


@contextmanager
def atomic_folder(folder: Path, replaces: Sequence[str] | None = None) -> Iterator[Path]:
    """A new folder to fill; leaving the block renames it to `folder`, an error leaves the old folder.

    A crash between the two renames leaves the old folder under another name, which `current_folder` finds.

    Args:
        replaces: names of the files that are written anew, the most characteristic first; all other files of the old
            folder are carried over. None replaces the whole folder.

    Raises:
        ValueError: if `folder` is a file, or holds some of `replaces` but not the first: they are the user's.
    """
    folder = folder.resolve()
    _check_replaceable(folder, replaces or ())
    new, old = folder.with_name(f".{folder.name}.new"), _backup(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        new.mkdir(parents=True)
        if folder.exists() and replaces is not None:
            shutil.copytree(folder, new, ignore=_top_level(folder, replaces), copy_function=_link, dirs_exist_ok=True)
        yield new
        sync_tree(new)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def current_folder(folder: Path) -> Path:
    """The folder, or its old version if a crash interrupted `atomic_folder` between the two renames."""
    old = _backup(folder.resolve())
    return old if old.exists() and not folder.exists() else folder


def rename_folder(new: Path, folder: Path) -> None:
    """Fsync a filled folder, then give it its final name, which must be free."""
    sync_tree(new)
    new.rename(folder)
    sync(folder.parent)


def sync_tree(folder: Path) -> None:
    """Fsync every file and folder below `folder`, and `folder`."""
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Fsync a file, or a folder's list of entries."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with reported_if_slow(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _backup(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _top_level(folder: Path, names: Sequence[str]) -> Callable[[str, list[str]], set[str]]:
    """Leaves out the names directly in `folder`; in its subfolders they are other files."""
    return lambda parent, entries: set(names) & set(entries) if Path(parent) == folder else set()


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


def _check_replaceable(folder: Path, names: Sequence[str]) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"Expected a folder to write to, but got the file {folder}; name another.")
    taken = [name for name in names if (folder / name).exists()]
    if taken and names[0] not in taken:
        raise ValueError(
            f"Expected a folder without {', '.join(taken)}, or one with {names[0]} beside it, but got {folder}; "
            "name another, so that nothing of yours is overwritten."
        )
