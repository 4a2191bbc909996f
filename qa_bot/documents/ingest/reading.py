"""Reads the records of files, folders and archives; bad input becomes rejects and notices."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from qa_bot.documents.ingest.detect import FORMATS, READERS, Reader, UnknownFormatError, expect_text, format_of, root_of
from qa_bot.documents.ingest.files.byte_budget import (
    RATIO_FLOOR,
    ByteBudget,
    CountingStream,
    LayerBudget,
    LimitError,
    TotalLimitError,
)
from qa_bot.documents.ingest.files.containers import DAMAGE, Layer, source_files
from qa_bot.documents.ingest.files.decoding import CHUNK
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.walk import File, files, printable
from qa_bot.documents.ingest.one_file import ReadRecords, load, raise_if_disk_full, read_file, reason_of
from qa_bot.documents.ingest.records import Item, Limits, Notice, Part, Record, Reject
from qa_bot.documents.ingest.worker.messages import Request
from qa_bot.documents.ingest.worker.process import POOL

DEEPEST_PART = 4  # a file in a message in a message in an archive


def read(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002  # the option's name on the command line
    limits: Limits | None = None,
    budget: ByteBudget | None = None,
    readers: Mapping[str, ReadRecords] | None = None,
) -> Iterator[Item]:
    """Yield the records of a file, an archive, or all files of a folder, with rejects and notices.

    Args:
        path: file, archive or folder; hidden files in folders are left out.
        format: one of `FORMATS` for every file, or None to detect each file's format.
        limits: bounds on the bytes that are read and unpacked.
        budget: a count of bytes that several paths share.
        readers: replacements for the readers of some formats; `<name>` reads XML with that root.

    Raises:
        FileNotFoundError: `path` does not exist.
        ValueError: `format` is unknown.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"Expected one of the formats {', '.join(FORMATS)}, but got {format!r}.")
    budget = budget or ByteBudget(limits or Limits())
    reading = Reading(format, limits or budget.limits, budget, readers or {})
    for file in files(path):
        if not isinstance(file, File):
            yield file
            continue
        try:
            yield from reading.path(file, is_named=not path.is_dir())
        except TotalLimitError as error:
            yield Reject(str(file.path), str(error))
            return


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of one reading."""

    format: str | None
    limits: Limits
    budget: ByteBudget
    readers: Mapping[str, ReadRecords]

    def path(self, file: File, *, is_named: bool, prefix: str = "") -> Iterator[Item]:
        """The items of a file on disk; the ids of its documents begin with its name.

        Args:
            is_named: the user named this file, so that ids of members of an archive need not begin with its name …
            prefix: … but with this.

        Raises:
            TotalLimitError: the budget is exhausted.
        """
        where = printable(str(file.path))
        try:
            before = state_of(file.path)
            with file.path.open("rb", buffering=0) as handle:
                stream = CountingStream(handle, LayerBudget(self.budget), size=before[0])
                layer = Layer(file.name, where, stream, before[0], is_named=is_named, prefix=prefix)
                for item in self._layer(layer):
                    yield _dated(item, where, before[1])
            if state_of(file.path) != before:
                yield Notice(where, "The file changed while it was read; add it again when it is complete.")
        except TotalLimitError:
            raise
        except LimitError as error:
            yield Reject(where, str(error))
        except DAMAGE as error:
            raise_if_disk_full(error)
            yield Reject(
                where, f"Expected a readable file, but got {reason_of(error)}; check its rights or fetch it again."
            )

    def _layer(self, layer: Layer) -> Iterator[Item]:
        for source in source_files(layer, self.limits):
            if isinstance(source, Reject):
                yield source
            else:
                yield from self._source(source)

    def _source(self, source: SourceFile) -> Iterator[Item]:
        for item in read_file(source, self._records):
            if isinstance(item, Part):
                yield from self._part(item, source)
            else:
                yield item

    def _records(self, source: SourceFile) -> Iterator[Item | Part]:
        name = self._format_of(source)
        if name in self.readers:
            return self.readers[name](source)
        reader = READERS[name]
        source = replace(source, guesses_encoding=not reader.module.startswith("data."))
        return _isolated(source, reader) if reader.is_isolated else load(reader.path, reader.function)(source)

    def _format_of(self, source: SourceFile) -> str:
        if not source.head and not source.raw.read(1):
            raise UnknownFormatError("Expected a document, but got an empty file; fill it or leave it out.")
        # a part has its own format, whatever the files around it have
        name = source.format or (None if isinstance(source.raw.source, io.BytesIO) else self.format)
        try:
            if name is not None and not READERS[name].is_binary:
                expect_text(source.head)
            return name or self._root_of(source) or format_of(source.name, source.head)
        except UnknownFormatError:
            _check_ratio(source)
            raise

    def _root_of(self, source: SourceFile) -> str:
        """The XML root of a file as `<name>`, if it has a reader."""
        root = f"<{root_of(source.head.decode('utf-8-sig', 'replace'))}>"
        return root if root in self.readers else ""

    def _part(self, part: Part, source: SourceFile) -> Iterator[Item]:
        if source.depth >= DEEPEST_PART:
            yield Reject(part.where, "Expected documents nested less deeply; save this one as a file.")
            return
        stream = CountingStream(io.BytesIO(part.data), LayerBudget(self.budget))
        layer = Layer(part.name, part.where, stream, len(part.data), is_named=False, depth=source.depth + 1)
        for item in self._layer(layer):
            yield _modified(item, part.date)


def _isolated(source: SourceFile, reader: Reader) -> Iterator[Item | Part]:
    """The items of a binary file, read in another process."""
    request = Request(reader.path, reader.function, b"", source.name, source.where, source.limits)
    on_disk = source.raw.source
    if isinstance(on_disk, io.FileIO):
        path = os.path.abspath(os.fsencode(cast("str", on_disk.name)))  # noqa: PTH100  # bytes
        yield from POOL.items(request._replace(path=path))
        return
    with tempfile.NamedTemporaryFile() as copy:
        while data := source.raw.read(CHUNK):
            copy.write(data)
        copy.flush()
        yield from POOL.items(request._replace(path=os.fsencode(copy.name)))


def _dated(item: Item, where: str, mtime_ns: int) -> Item:
    """A document that is a whole file knows when that file was changed; one in an archive or a data set does not.

    The time is 0 if it is unknown.
    """
    if f"{where}!" in item.where or mtime_ns <= 0:
        return item
    return _modified(item, datetime.fromtimestamp(mtime_ns / 1e9, UTC).date().isoformat())


def _modified(item: Item, date: str) -> Item:
    """A document with the date of what it is in, if nothing nearer to it has one."""
    if not isinstance(item, Record) or not item.markdown or item.kind == "pair":
        return item
    return replace(item, modified=item.modified or date)


def state_of(path: Path) -> tuple[int, int]:
    """Size and time of the last change; raises OSError if there is no such file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _check_ratio(source: SourceFile) -> None:
    """Read on a little, so that a decompression bomb is not reported as a file of an unknown format."""
    if source.raw.budget.packed is not None:
        for _ in range(2 * RATIO_FLOOR // CHUNK):
            source.raw.read(CHUNK)
