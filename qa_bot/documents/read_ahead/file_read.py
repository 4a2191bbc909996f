"""One file that is read and cut before its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn

from qa_bot.documents.cutting.cut_record import CutRecord, cut_record, in_its_language
from qa_bot.documents.ingest.detect import BY_SUFFIX, READERS
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.walk import File
from qa_bot.documents.ingest.one_file import ReadRecords
from qa_bot.documents.ingest.reading import Reading, state_of
from qa_bot.documents.ingest.records import Item, Limits, Record

LARGEST = 1024**2
"""Bytes of a file that is read ahead, because all of its records are held until its turn."""


class Request(NamedTuple):
    """A file, what the ids of its documents begin with, and the other arguments of `Reading.path`.

    `format` is "" if it is to be detected.
    """

    location: str
    size: int
    name: str
    is_named: bool
    prefix: str
    format: str

    @property
    def is_suitable(self) -> bool:
        """Whether it is a small text file; others are read in a process of limits, or are archives."""
        reader = READERS.get(self.format or BY_SUFFIX.get(PurePosixPath(self.location).suffix.lower(), ""))
        return reader is not None and not reader.is_isolated and self.size <= LARGEST


class Settings(NamedTuple):
    """What is the same for all files: bounds, and the lengths of passages and of their overlap in characters."""

    limits: Limits
    characters: int
    overlap: int


@dataclass(frozen=True, slots=True)
class FileRead:
    """The items of a file, records with what they are cut into, and its digest and state before it was read.

    `bytes` is what counts for the limit on the whole input.
    """

    digest: str
    state: tuple[int, int]
    bytes: int
    items: tuple[tuple[Item, CutRecord | None], ...]


def read_file(request: Request, settings: Settings) -> FileRead | None:
    """Read and cut a file; None if it must be read at its turn, because it is no text or anything goes wrong."""
    path, budget = Path(request.location), ByteBudget(settings.limits)
    reading = Reading(request.format or None, settings.limits, budget, NOT_AHEAD)
    try:
        state, digest = state_of(path), file_digest(request.location)
        items = reading.path(File(path, request.name), is_named=request.is_named, prefix=request.prefix)
        cut = tuple((item, _cut(item, settings)) for item in items)
    except Exception:  # raised again when it is read at its turn
        return None
    return FileRead(digest, state, budget.bytes, cut) if digest else None


def _cut(item: Item, settings: Settings) -> CutRecord | None:
    if not isinstance(item, Record):
        return None
    cut = cut_record(in_its_language(item), characters=settings.characters, overlap=settings.overlap)
    return replace(cut, passages=tuple(cut.passages))


def is_unchanged(read: FileRead, request: Request) -> bool:
    """Whether size and time of the file are those from before it was read."""
    try:
        return state_of(Path(request.location)) == read.state
    except OSError:
        return False


def _not_ahead(source: SourceFile) -> NoReturn:
    raise NotImplementedError(f"{source.where} is read in a process of limits.")


NOT_AHEAD: Mapping[str, ReadRecords] = {name: _not_ahead for name, reader in READERS.items() if reader.is_isolated}
"""In place of the readers that run in an isolated process."""
