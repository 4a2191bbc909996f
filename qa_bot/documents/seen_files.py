"""Files that were added whole: adding one again only reads it once, for its checksum.

An entry holds for the same bytes, under the same name, into the same collection, cut in the same way. It counts the
file's documents and lists its rejects. Deleting or replacing any document clears all entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.records import Notice, Reject

MAX_ENTRIES = 1000
"""Most files, and most rejects of a file; a file with more is read again."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    documents: int
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class SeenFiles:
    """Entries by `signature`."""

    entries: dict[str, SeenFile] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> SeenFiles:
        """From the manifest of a generation."""
        return cls({signature: _from_json(fields) for signature, fields in manifest.get("receipts", {}).items()})

    def as_dict(self) -> dict[str, Any]:
        """The latest entries, for the manifest of a generation."""
        return {signature: asdict(entry) for signature, entry in list(self.entries.items())[-MAX_ENTRIES:]}

    def add(self, signature: str, documents: int, problems: Sequence[Reject | Notice]) -> None:
        """Remember a file, unless it has too many rejects and notices."""
        if len(problems) <= MAX_ENTRIES:
            rejects = tuple(problem for problem in problems if isinstance(problem, Reject))
            notices = tuple(problem for problem in problems if isinstance(problem, Notice))
            self.entries[signature] = SeenFile(documents, rejects, notices)


def signature(path: Path, *settings: object) -> str:
    """A digest of a file's bytes, its name, and the settings that affect its documents."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(repr((content, path.name, *settings)).encode()).hexdigest()


def _from_json(fields: Mapping[str, Any]) -> SeenFile:
    rejects = tuple(Reject(**reject) for reject in fields["rejects"])
    return SeenFile(fields["documents"], rejects, tuple(Notice(**notice) for notice in fields["notices"]))
