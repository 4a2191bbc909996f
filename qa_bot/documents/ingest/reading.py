"""From a path to records: files are found, archives read through, formats detected, and bad input is told."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from qa_bot.documents.ingest.detect import FORMATS, UnknownFormatError, expect_text, format_of
from qa_bot.documents.ingest.files.byte_budget import (
    RATIO_FLOOR,
    ByteBudget,
    CountingStream,
    LayerBudget,
    LimitError,
    TotalLimitError,
)
from qa_bot.documents.ingest.files.containers import DAMAGE, Layer, leaves
from qa_bot.documents.ingest.files.decoding import CHUNK
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.walk import File, files
from qa_bot.documents.ingest.records import Item, Limits, Record, Reject

# each reader is imported when its format is first met: some bring libraries that take a while
Reader = Callable[[SourceFile], Iterator[Item]]
MODULES = {name: name for name in FORMATS} | {"json": "json_array"}


def read(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002  # the option's name on the command line
    limits: Limits | None = None,
    budget: ByteBudget | None = None,
    readers: Mapping[str, Reader] | None = None,
) -> Iterator[Item]:
    """The records of a file or of all files in a folder, with what was rejected or repaired, as they are met.

    Args:
        path: file, archive or folder; hidden files in folders are left out.
        format: one of `FORMATS` for every file, or None to detect it for each by name and content.
        limits: bounds by bytes produced.
        budget: the count of bytes so far, where several paths share one bound.
        readers: what to read some formats with instead of their own reader.

    Raises:
        FileNotFoundError: nothing is at `path`.
        ValueError: `format` is unknown.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"Expected one of the formats {', '.join(FORMATS)}, but got {format!r}.")
    limits = limits or (budget.limits if budget else Limits())
    budget = budget or ByteBudget(limits)
    for file in files(path):
        if isinstance(file, Reject):
            yield file
            continue
        try:
            yield from _file(file, format, limits, budget, readers or {}, is_named=not path.is_dir())
        except TotalLimitError as error:
            yield Reject(str(file.path), str(error))
            return


def _file(
    file: File,
    wanted: str | None,
    limits: Limits,
    budget: ByteBudget,
    readers: Mapping[str, Reader],
    *,
    is_named: bool,
) -> Iterator[Item]:
    where = str(file.path)
    try:
        with file.path.open("rb", buffering=0) as handle:
            layer = Layer(
                file.name,
                where,
                CountingStream(handle, LayerBudget(budget)),
                file.path.stat().st_size,
                is_named=is_named,
            )
            for leaf in leaves(layer, limits):
                if isinstance(leaf, Reject):
                    yield leaf
                else:
                    yield from _leaf(leaf, wanted, readers)
    except TotalLimitError:
        raise
    except LimitError as error:
        yield Reject(where, str(error))
    except DAMAGE as error:
        _expect_room(error)
        yield Reject(where, f"Expected a readable file, but got {_reason(error)}; check its rights or fetch it again.")


def _leaf(leaf: SourceFile, wanted: str | None, readers: Mapping[str, Reader]) -> Iterator[Item]:
    last = ""
    try:
        for item in _reader(leaf, wanted, readers)(leaf):
            last = item.where if isinstance(item, Record) else last
            yield item
    except TotalLimitError:
        raise
    except (UnknownFormatError, LimitError) as error:
        yield Reject(leaf.where, str(error))
    except DAMAGE as error:
        _expect_room(error)
        kept = f"what came before (up to {last}) is kept" if last else "nothing of it is kept"
        yield Reject(leaf.where, f"Expected a whole file, but got {_reason(error)}; {kept}: fetch it again.")
    yield from leaf.repairs.notices(leaf.where)


def _reader(leaf: SourceFile, wanted: str | None, readers: Mapping[str, Reader]) -> Reader:
    if not leaf.head and not leaf.raw.read(1):
        raise UnknownFormatError("Expected a document, but got an empty file; fill it or leave it out.")
    try:
        if wanted not in {None, "pdf"}:
            expect_text(leaf.head)
        name = wanted or format_of(leaf.name, leaf.head)
    except UnknownFormatError:
        _try_bounds(leaf)
        raise
    if name in readers:
        return readers[name]
    module = import_module(f"qa_bot.documents.ingest.formats.{MODULES[name]}")
    return cast("Reader", module.records)


def _try_bounds(leaf: SourceFile) -> None:
    """Read on a little, so that a decompression bomb is told as one and not as a file of an unknown kind."""
    if leaf.raw.meter.packed is not None:
        for _ in range(2 * RATIO_FLOOR // CHUNK):
            leaf.raw.read(CHUNK)


def _expect_room(error: BaseException) -> None:
    """A full disk under the temporary copies is no fault of the file that is read."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        raise error


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
