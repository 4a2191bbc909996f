"""`qa-bot restore`: a whole home from a backup, into a new folder or in place, and back again."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qa_bot.backup.manifest import STORE, BackupError, Manifest, chosen
from qa_bot.backup.objects import Objects
from qa_bot.home.checks.schema_version import schema_of
from qa_bot.home.checks.sealed_files import seal
from qa_bot.home.config import Config, load_config, without_database
from qa_bot.home.folder import Home
from qa_bot.home.replacement.swap import stage, swap, take_back
from qa_bot.home.store.copies.database_copy import copy_database, replace_rows
from qa_bot.home.store.schema import REVISIONS
from qa_core.atomic import sync_tree

UNDO = "`qa-bot restore --undo` brings back what was there before"


@dataclass(frozen=True, slots=True)
class Restored:
    """`notices` say what differs from the backup."""

    name: str
    home: str
    files: int
    documents: int
    turns: int
    notices: list[str]

    def as_dict(self) -> dict[str, Any]:
        """The object of `restore --json`."""
        return asdict(self)


def restore_into(folder: Path, target: Path, *, name: str | None = None) -> Restored:
    """Write a backup to a new or empty folder, which becomes a separate home with a separate database.

    Raises:
        BackupError: the backup is damaged or of a newer version, or the folder is not empty; nothing was changed.
    """
    manifest = chosen(folder, name)
    _expect_whole(folder, manifest)
    target = target.expanduser().absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(f"Expected a new or empty folder, but {target} has content; name another.")
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700, parents=True)
    _write_files(folder, manifest, partial)
    notices = []
    if without_database(partial):
        notices.append("The restored home has a separate database: [store] url was left out.")
    sync_tree(partial)
    if target.exists():
        target.rmdir()
    partial.rename(target)
    seal(target)
    return Restored(manifest.name, str(target), len(manifest.files), manifest.documents, manifest.turns, notices)


def restore(home: Home, folder: Path, *, name: str | None = None) -> Restored:
    """Replace the content of a home by a backup; the former content is kept until the next time.

    Raises:
        BackupError: the backup is damaged or of a newer version, or the home is being read; nothing was changed.
        WriterBusyError: another process writes to the home.
    """
    manifest = chosen(folder.expanduser().absolute(), name)
    folder = folder.expanduser().absolute()
    _expect_whole(folder, manifest)
    with home.lock("restore"), _unread(home):
        staged = stage(home.path)
        _write_files(folder, manifest, staged)
        _exchange(home, staged)
    return Restored(
        manifest.name, str(home.path), len(manifest.files), manifest.documents, manifest.turns, [UNDO + "."]
    )


def undo(home: Home) -> None:
    """Bring back what the last `restore` replaced; a second time, what the first replaced.

    Raises:
        BackupError: nothing was replaced, or the home is being read.
    """
    with home.lock("restore"), _unread(home):
        if not take_back(home.path):
            raise BackupError(f"Expected a home that was restored, but {home.path} keeps no former content.")
        _exchange(home, home.path / ".restoring" / "content")


def _exchange(home: Home, staged: Path) -> None:
    """Swap the files; of a database that is no file of the home, swap the rows first."""
    config = _config(home.path)
    before = home.store_url(config) if config else ""
    after = home.store_url(_config(staged) or Config())
    if before and config and config.store.url:
        _save_rows(before, home.path / STORE)
    if _is_elsewhere(home, after) and (staged / STORE).is_file():
        replace_rows(after, staged / STORE)
    swap(home.path)
    seal(home.path)


def _save_rows(url: str, target: Path) -> None:
    target.unlink(missing_ok=True)
    copy_database(url, target)


def _is_elsewhere(home: Home, url: str) -> bool:
    return url != f"sqlite:///{home.path / STORE}"


def _config(path: Path) -> Config | None:
    """The configuration in a folder; None if it is damaged."""
    try:
        return load_config(path)
    except ValueError:
        return None


def _expect_whole(folder: Path, manifest: Manifest) -> None:
    objects = Objects(folder)
    for name, file in manifest.files.items():
        if not objects.is_whole(file.sha256):
            raise BackupError(
                f"Expected a whole backup {manifest.name} in {folder}, but {name} is missing or damaged in it; nothing "
                "was changed. Choose another with --at."
            )
    if manifest.schema and manifest.schema not in REVISIONS:
        raise BackupError(
            f"Expected a backup of schema {REVISIONS[-1]} or older, but got {manifest.schema}, by qa-bot "
            f"{manifest.by}; install that version."
        )


def _write_files(folder: Path, manifest: Manifest, target: Path) -> None:
    objects = Objects(folder)
    for name, file in manifest.files.items():
        path = target / name
        if not path.resolve().is_relative_to(target.resolve()):
            raise BackupError(f"Expected paths inside the home in {folder}, but got {name}; it was altered.")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(objects.path(file.sha256), path)
        path.chmod(file.mode)
    if (target / STORE).is_file() and schema_of(target / STORE) is None:
        raise BackupError(
            f"Expected a database in the backup {manifest.name}, but it cannot be opened; choose another."
        )


@contextmanager
def _unread(home: Home) -> Iterator[None]:
    """Raises BackupError if a service or a command reads the home: it would go on with the former database."""
    manifests = [path for root in (home.index, home.graph) for path in root.glob("*/manifest.json")]
    descriptors = []
    try:
        for path in manifests:
            descriptor = os.open(path, os.O_RDONLY)
            descriptors.append(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        raise BackupError(
            f"Expected a home that nothing reads, but a service or command uses {home.path}; stop it first."
        ) from None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
