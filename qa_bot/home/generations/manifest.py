"""The manifest of a generation: what its writer noted, and size and digest of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

MANIFEST = "manifest.json"
REPAIR = "run `qa-bot repair`"


class FileRecord(NamedTuple):
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A published generation: the `manifest` of its writer, and its `files` by relative path."""

    number: int
    path: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, FileRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Damage:
    kind: Literal["missing", "damaged", "outdated"]
    path: Path
    detail: str

    @property
    def message(self) -> str:
        return f"{self.path} is {self.kind}: {self.detail}; {REPAIR}."


class CorruptGenerationError(Exception):
    """The generation cannot be used; `damage` says why."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.message)
        self.damage = damage


def read_generation(path: Path) -> Generation:
    """Raises CorruptGenerationError if the folder or its manifest is missing, cut short or altered."""
    manifest = path / MANIFEST
    try:
        content = json.loads(manifest.read_bytes())
        if content["sha256"] != _digest_of(content):
            raise ValueError("its checksum does not match")
        files = {name: FileRecord(**record) for name, record in content["files"].items()}
        return Generation(content["number"], path, content["manifest"], files)
    except FileNotFoundError:
        missing = manifest if path.is_dir() else path
        raise CorruptGenerationError(Damage("missing", missing, "CURRENT or a reader names it")) from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CorruptGenerationError(Damage("damaged", manifest, one_line(error))) from None


def describe(staged: Path, known: Mapping[tuple[int, int], FileRecord]) -> Iterator[tuple[str, FileRecord]]:
    for path in sorted(staged.rglob("*")):
        if path.is_symlink():
            raise ValueError(f"Expected files and folders in a generation, but got the link {path}.")
        if path.is_file():
            size = path.stat().st_size
            record = known.get(inode_of(path) or (0, 0))
            if record is None or record.bytes != size:
                record = FileRecord(size, _sha256(path))
            yield path.relative_to(staged).as_posix(), record


def check_file(path: Path, record: FileRecord, *, deep: bool) -> Damage | None:
    try:
        size = path.stat().st_size
        if size != record.bytes:
            return Damage("damaged", path, f"expected {record.bytes} bytes, but got {size}")
        if deep and _sha256(path) != record.sha256:
            return Damage("damaged", path, "its sha256 differs from the manifest")
    except (FileNotFoundError, NotADirectoryError):
        return Damage("missing", path, "the manifest lists it")
    except OSError as error:
        return Damage("damaged", path, one_line(error))
    return None


def manifest_text(number: int, manifest: Mapping[str, Any], files: Mapping[str, FileRecord]) -> str:
    content = {"number": number, "manifest": dict(manifest), "files": {name: r._asdict() for name, r in files.items()}}
    return json.dumps({**content, "sha256": _digest_of(content)}, indent=1, sort_keys=True)


def _digest_of(content: Mapping[str, Any]) -> str:
    bare = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inode_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def one_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
