"""Reads the records of files, folders and archives; bad input becomes rejects and notices."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from qa_bot.documents.ingest.detect import FORMATS, READERS, UnknownFormatError, expect_text, format_of
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
from qa_bot.documents.ingest.files.walk import File, files
from qa_bot.documents.ingest.records import Item, Limits, Record, Reject

ReadRecords = Callable[[SourceFile], Iterator[Item]]


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
        readers: replacements for the readers of some formats.

    Raises:
        FileNotFoundError: `path` does not exist.
        ValueError: `format` is unknown.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"Expected one of the formats {', '.join(FORMATS)}, but got {format!r}.")
    budget = budget or ByteBudget(limits or Limits())
    for file in files(path):
        if isinstance(file, Reject):
            yield file
            continue
        try:
            yield from _read_path(
                file, format, limits or budget.limits, budget, readers or {}, is_named=not path.is_dir()
            )
        except TotalLimitError as error:
            yield Reject(str(file.path), str(error))
            return


def _read_path(
    file: File,
    format_: str | None,
    limits: Limits,
    budget: ByteBudget,
    readers: Mapping[str, ReadRecords],
    *,
    is_named: bool,
) -> Iterator[Item]:
    where = str(file.path)
    try:
        with file.path.open("rb", buffering=0) as handle:
            stream = CountingStream(handle, LayerBudget(budget))
            layer = Layer(file.name, where, stream, file.path.stat().st_size, is_named=is_named)
            for source in source_files(layer, limits):
                if isinstance(source, Reject):
                    yield source
                else:
                    yield from _read_source(source, format_, readers)
    except TotalLimitError:
        raise
    except LimitError as error:
        yield Reject(where, str(error))
    except DAMAGE as error:
        _raise_if_disk_full(error)
        yield Reject(where, f"Expected a readable file, but got {_reason(error)}; check its rights or fetch it again.")


def _read_source(source: SourceFile, format_: str | None, readers: Mapping[str, ReadRecords]) -> Iterator[Item]:
    last = ""
    try:
        for item in _reader(source, format_, readers)(source):
            last = item.where if isinstance(item, Record) else last
            yield item
    except TotalLimitError:
        raise
    except (UnknownFormatError, LimitError) as error:
        yield Reject(source.where, str(error))
    except DAMAGE as error:
        _raise_if_disk_full(error)
        note = f"what came before (up to {last}) is kept" if last else "nothing of it is kept"
        yield Reject(source.where, f"Expected a whole file, but got {_reason(error)}; {note}: fetch it again.")
    yield from source.repairs.notices(source.where)


def _reader(source: SourceFile, format_: str | None, readers: Mapping[str, ReadRecords]) -> ReadRecords:
    if not source.head and not source.raw.read(1):
        raise UnknownFormatError("Expected a document, but got an empty file; fill it or leave it out.")
    try:
        if format_ not in {None, "pdf"}:
            expect_text(source.head)
        name = format_ or format_of(source.name, source.head)
    except UnknownFormatError:
        _check_ratio(source)
        raise
    if name in readers:
        return readers[name]
    reader = READERS[name]
    module = import_module(f"qa_bot.documents.ingest.formats.{reader.module}")  # late: some import large libraries
    return cast("ReadRecords", getattr(module, reader.function))


def _check_ratio(source: SourceFile) -> None:
    """Read on a little, so that a decompression bomb is not reported as a file of an unknown format."""
    if source.raw.budget.packed is not None:
        for _ in range(2 * RATIO_FLOOR // CHUNK):
            source.raw.read(CHUNK)


def _raise_if_disk_full(error: BaseException) -> None:
    """If the disk of the temporary copies is full, the file is not to blame."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        raise error


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
