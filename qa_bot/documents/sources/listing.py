"""Lists the files of a source with their sizes and times, without reading them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from qa_bot.documents.ingest.files.walk import File, files
from qa_bot.documents.ingest.records import Notice, Reject


class FileState(NamedTuple):
    """A file of a source on disk; `path` is its path below the source, `location` the one to open."""

    path: str
    location: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class Listing:
    """What a walk over a place met besides its files: rejects and notices, and the paths that could not be read."""

    place: Path
    scope: str = ""
    problems: list[Reject | Notice] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def states(self) -> Iterator[FileState]:
        """The files of the place, or of the path `scope` below it.

        Raises:
            FileNotFoundError: the place does not exist.
        """
        start = self.place / self.scope if self.scope else self.place
        is_folder = start.is_dir()
        for file in files(start):
            if not isinstance(file, File):
                self._note(file)
                continue
            path = "/".join(part for part in (self.scope, file.name if is_folder else "") if part) or file.name
            try:
                status = os.stat(file.path)  # noqa: PTH116  # half the time of `Path.stat`
            except OSError as error:
                reason = f"Expected a readable file, but got {error.strerror}; check its rights."
                self._note(Reject(str(file.path), reason))
                continue
            yield FileState(path, str(file.path), status.st_size, status.st_mtime_ns)

    def is_unreadable(self, path: str) -> bool:
        """Whether a path, or a folder above it, could not be read, so that the path may still exist."""
        return any(path == blocked or path.startswith(f"{blocked}/") or not blocked for blocked in self.unreadable)

    def _note(self, problem: Reject | Notice) -> None:
        self.problems.append(problem)
        if isinstance(problem, Notice):
            return
        try:
            below = Path(problem.where).relative_to(self.place).as_posix()
        except ValueError:
            return
        self.unreadable.append("" if below == "." else below)
