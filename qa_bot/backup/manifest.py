"""The list of a backup's files, as JSON with a checksum over itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qa_core.atomic import atomic_file

FORMAT, VERSION = "qa-bot backup", 1
FOLDER = "backups"
STORE = "store.sqlite"
"""Path of the database's copy in every backup, whatever the database is."""


class BackupError(ValueError):
    """A backup cannot be written or used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the home: its sha256 names its object."""

    bytes: int
    sha256: str
    mode: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """`made` is in seconds since 1970, `schema` that of the database, `store` its kind (sqlite, postgresql)."""

    name: str
    made: float
    by: str
    schema: str
    store: str
    documents: int
    turns: int
    files: Mapping[str, StoredFile]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files.values())


def write_manifest(folder: Path, manifest: Manifest) -> Path:
    content = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    path = folder / FOLDER / f"{manifest.name}.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_file(path, private=True) as file:
        file.write(json.dumps({**content, "sha256": _digest(content)}, indent=1, sort_keys=True).encode())
    return path


def read_manifest(path: Path) -> Manifest:
    """Raises BackupError if it is damaged, or of a newer version."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        if content.get("format") != FORMAT:
            raise ValueError("another kind of file")
        if content["version"] > VERSION:
            raise BackupError(
                f"Expected a backup of version {VERSION}, but {path} is of version {content['version']}, by qa-bot "
                f"{content['by']}; install that version."
            )
        digest = content.pop("sha256")
        if digest != _digest(content):
            raise ValueError("its checksum does not match")
        files = {name: StoredFile(**file) for name, file in content.pop("files").items()}
        del content["format"], content["version"]
        return Manifest(**content, files=files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError(f"Expected a backup in {path}, but got: {error}; choose another with --at.") from None


def names(folder: Path) -> list[str]:
    """The backups of a folder, newest first."""
    return sorted((path.stem for path in (folder / FOLDER).glob("[0-9]*.json")), reverse=True)


def chosen(folder: Path, name: str | None = None) -> Manifest:
    """The backup of a name, or the newest. Raises BackupError if there is none."""
    known = names(folder)
    if not known or (name is not None and name not in known):
        got = f"it has {', '.join(known[:5])}" if known else "got none; write one with `qa-bot backup DIR`"
        raise BackupError(f"Expected {f'the backup {name}' if name else 'a backup'} in {folder}, but {got}.")
    return read_manifest(folder / FOLDER / f"{name or known[0]}.json")


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
