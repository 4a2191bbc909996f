"""The report of an `add` or `sync`: what was added and removed, and what was rejected, with a file of all rejects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.home.folder import Home

LISTED = 1000
"""Most notices, and most rejects, that a report lists; the file has all rejects."""
KEPT_FILES = 20
"""Files of rejects in a home; each run with rejects writes one."""
COUNTS = ("added", "updated", "unchanged", "removed", "rejected", "passages", "duplicates")
LISTS = ("new", "changed", "moved", "deleted")


@dataclass(slots=True)
class SourceReport:
    """The files of one source that differ from its last synchronisation, as paths below it.

    `unchanged` counts files; `error` says why nothing was compared.
    """

    name: str
    kind: str
    place: str
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    unchanged: int = 0
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        """An entry of `sources` in the object of `sync --json`."""
        moved = [{"from": before, "to": now} for before, now in self.moved]
        return {**{name: getattr(self, name) for name in self.__slots__}, "moved": moved}


@dataclass(slots=True)
class AddReport:
    """Counts of documents; `examples` holds the first rejects, `rejects_file` all of them."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    rejected: int = 0
    passages: int = 0
    duplicates: int = 0
    notices: list[Notice] = field(default_factory=list)
    examples: list[Reject] = field(default_factory=list)
    rejects_file: Path | None = None
    sources: list[SourceReport] = field(default_factory=list)

    @property
    def records(self) -> int:
        return self.accepted + self.rejected

    @property
    def accepted(self) -> int:
        return self.added + self.updated + self.unchanged

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated or self.removed)

    @property
    def errors(self) -> list[str]:
        """Why sources could not be compared."""
        return [report.error for report in self.sources if report.error]

    def as_dict(self) -> dict[str, Any]:
        """The object of `add --json`."""
        return {
            **{name: getattr(self, name) for name in COUNTS},
            "notices": [f"{notice.where}: {notice.message}" for notice in self.notices],
            "rejects": [{"where": reject.where, "reason": reject.reason} for reject in self.examples],
            "rejects_file": str(self.rejects_file) if self.rejects_file else None,
        }

    def lists(self) -> dict[str, Any]:
        """What `sync --json` adds to `as_dict`: four lists of files, the same by source, and errors."""
        entries = [report.as_dict() for report in self.sources]
        lists = {name: [item for entry in entries for item in entry[name]] for name in LISTS}
        return {**lists, "errors": self.errors, "sources": entries}


class RejectLog:
    """Fills a report, and writes the rejects to a JSONL file, which is created with the first one."""

    def __init__(self, path: Path | None) -> None:
        self.counts = AddReport()
        self._path = path
        self._file: BinaryIO | None = None

    def reject(self, reject: Reject) -> None:
        self.counts.rejected += 1
        if len(self.counts.examples) < LISTED:
            self.counts.examples.append(reject)
        if self._path and not self._file:
            self._path.parent.mkdir(exist_ok=True)
            for old in sorted(self._path.parent.glob("*.jsonl"))[: -KEPT_FILES + 1]:
                old.unlink(missing_ok=True)
            self._file, self.counts.rejects_file = self._path.open("wb"), self._path
        if self._file:
            self._file.write(orjson.dumps({"where": reject.where, "reason": reject.reason}) + b"\n")

    def notice(self, notice: Notice) -> None:
        if len(self.counts.notices) < LISTED:
            self.counts.notices.append(notice)

    def close(self) -> None:
        if self._file:
            self._file.close()


@contextmanager
def reject_log(home: Home | None) -> Iterator[RejectLog]:
    """A log that writes rejects to a file of the home; without a home it only counts."""
    with closing(RejectLog(home.path / "rejects" / _name() if home else None)) as log:
        yield log


def _name() -> str:
    """The name of a file in the order of time: the second and its nanoseconds, in UTC, of one reading of the clock."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(seconds)) + f"-{nanoseconds:09d}.jsonl"
