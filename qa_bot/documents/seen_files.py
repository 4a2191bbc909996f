"""SeenFiles: which files were added whole, so that adding one again reads it only once, for its checksum.

A receipt tells of the very same bytes, under the same name, into the same collection, cut in the same way. It says how
many documents the file holds and what was rejected. Deleting or replacing any document makes all receipts void: they
are no memory of what is stored, only a short cut to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.records import Notice, Reject

KEPT = 1000
"""SeenFiles, and rejects on a receipt; a file with more is read again."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    documents: int
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class SeenFiles:
    """SeenFiles by what `signature` tells of a file."""

    held: dict[str, SeenFile] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> SeenFiles:
        """From the manifest of a generation."""
        return cls({signature: _receipt(told) for signature, told in manifest.get("receipts", {}).items()})

    def as_dict(self) -> dict[str, Any]:
        """The youngest, for the manifest of a generation."""
        return {signature: asdict(receipt) for signature, receipt in list(self.held.items())[-KEPT:]}

    def keep(self, signature: str, documents: int, told: Sequence[Reject | Notice]) -> None:
        """Give a receipt for a file, unless too much was wrong with it."""
        if len(told) <= KEPT:
            rejects = tuple(each for each in told if isinstance(each, Reject))
            notices = tuple(each for each in told if isinstance(each, Notice))
            self.held[signature] = SeenFile(documents, rejects, notices)


def signature(path: Path, *settings: object) -> str:
    """A digest of a file's bytes and name, and of everything else that decides what becomes of it."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(repr((content, path.name, *settings)).encode()).hexdigest()


def _receipt(told: Mapping[str, Any]) -> SeenFile:
    return SeenFile(
        told["documents"],
        tuple(Reject(**each) for each in told["rejects"]),
        tuple(Notice(**each) for each in told["notices"]),
    )
