"""Files by the digest of their content: a file that is there already is not copied again."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from qa_bot.backup.manifest import BackupError, StoredFile
from qa_core.atomic import atomic_file

CHUNK = 1024 * 1024
"""Bytes that are copied at once."""


class Objects:
    """The folder `objects` of a backup folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "objects"
        self.copied = 0
        """Bytes that were copied, because they were not there."""

    def path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256

    def put(self, source: Path, sha256: str = "") -> StoredFile:
        """Store a file; with its known digest it is not read if it is there.

        Raises:
            BackupError: the file has another digest than the known one: it is damaged.
        """
        state = source.stat()
        digest = sha256 or _digest(source)
        if not self.is_whole(digest):
            self._copy(source, digest)
            self.copied += state.st_size
        return StoredFile(self.path(digest).stat().st_size, digest, state.st_mode & 0o777)

    def is_whole(self, sha256: str) -> bool:
        """Whether an object is there and undamaged; reads all of it."""
        try:
            return _digest(self.path(sha256)) == sha256
        except OSError:
            return False

    def prune(self, used: Collection[str]) -> int:
        """Remove objects that no backup uses; returns their number."""
        unused = [path for path in self.folder.glob("??/*") if path.name not in used]
        for path in unused:
            path.unlink()
        return len(unused)

    def _copy(self, source: Path, sha256: str) -> None:
        target = self.path(sha256)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with source.open("rb") as file, atomic_file(target, private=True) as copy:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                copy.write(chunk)
            if digest.hexdigest() != sha256:
                raise BackupError(
                    f"Expected {source} unchanged since it was written, but its checksum differs; run `qa-bot repair`, "
                    "then back up again."
                )
        if not self.is_whole(sha256):
            raise BackupError(f"Expected to read {target} as it was written, but got other bytes; use another disk.")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
