"""What repairing needs and gives: backups with sound copies, and what was mended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from qa_bot.home.checks.documents import AlteredDocument
from qa_bot.home.store.integrity.rows import Content


class Copies(Protocol):
    """A backup, from which single parts of the home are mended."""

    def document(self, key: int) -> Content | None: ...

    def row(self, table: str, key: object) -> dict[str, Any] | None: ...

    def file(self, name: str) -> bytes | None: ...


Backups = Callable[[], AbstractContextManager[Sequence[Copies] | None]]
"""Opens the backups to take sound copies from, newest first."""


@dataclass(slots=True)
class Repaired:
    """What was done: sentences on what is mended and what stays damaged, and the documents left out of the index."""

    documents: int = 0
    mended: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    left_out: list[AlteredDocument] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The object of `repair --json`."""
        names = [{"id": document.id, "collection": document.collection} for document in self.left_out]
        return {"documents": self.documents, "mended": self.mended, "damaged": self.damaged, "left_out": names}
