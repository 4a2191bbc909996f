"""Backups from which `qa-bot repair` takes single parts: documents, turns, votes, files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qa_bot.backup.manifest import FOLDER, STORE, BackupError, Manifest, names, read_manifest
from qa_bot.backup.objects import Objects
from qa_bot.home.checks.last_backup import last_backup
from qa_bot.home.folder import Home
from qa_bot.home.store import Store, StoreError
from qa_bot.home.store.integrity.rows import Content

MOST = 3
"""Backups that are opened, the newest first."""


class BackupCopies:
    """One backup, whose database is a copy that may be migrated."""

    def __init__(self, folder: Path, manifest: Manifest, store: Store | None) -> None:
        self._objects, self._manifest, self._store = Objects(folder), manifest, store

    def document(self, key: int) -> Content | None:
        return self._store.integrity.content(key) if self._store else None

    def row(self, table: str, key: object) -> dict[str, Any] | None:
        return self._store.integrity.row(table, key) if self._store else None

    def file(self, name: str) -> bytes | None:
        """A file of the home; None if the backup lacks it, or it is damaged there."""
        file = self._manifest.files.get(name)
        if file is None or not self._objects.is_whole(file.sha256):
            return None
        return self._objects.path(file.sha256).read_bytes()


@contextmanager
def backup_copies(home: Home) -> Iterator[list[BackupCopies]]:
    """The newest undamaged backups beside the last one; none if the folder is not there now."""
    last = last_backup(home)
    with tempfile.TemporaryDirectory(prefix="qa-bot-repair-") as scratch:
        opened = list(_opened(last.folder, Path(scratch))) if last else []
        try:
            yield [copies for copies, _ in opened]
        finally:
            for _, store in opened:
                if store:
                    store.close()


def _opened(folder: Path, scratch: Path) -> Iterator[tuple[BackupCopies, Store | None]]:
    objects = Objects(folder)
    for name in names(folder)[:MOST]:
        try:
            manifest = read_manifest(folder / FOLDER / f"{name}.json")
        except BackupError:
            continue
        store = None
        file = manifest.files.get(STORE)
        if file is not None and objects.is_whole(file.sha256):
            copy = scratch / f"{name}.sqlite"
            shutil.copyfile(objects.path(file.sha256), copy)
            try:
                store = Store.open(f"sqlite:///{copy}")
            except StoreError:
                store = None
        yield BackupCopies(folder, manifest, store), store
