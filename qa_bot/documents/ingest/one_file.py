"""Reads one file with one reader; what the reader raises becomes a reject."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

from qa_bot.documents.ingest.detect import UnknownFormatError
from qa_bot.documents.ingest.files.byte_budget import LimitError, TotalLimitError
from qa_bot.documents.ingest.files.containers import DAMAGE
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import Item, Notice, Part, Record, Reject

ReadRecords = Callable[[SourceFile], Iterator[Item | Part]]


def load(module: str, function: str) -> ReadRecords:
    """The reader's function; its module is imported late, because some import large libraries."""
    return cast("ReadRecords", getattr(import_module(module), function))


def read_file(source: SourceFile, records: ReadRecords, *, is_binary: bool = False) -> Iterator[Item | Part]:
    """The records and parts of a file, then rejects and notices.

    Args:
        source: the file.
        records: the reader's function.
        is_binary: its library may raise anything on a damaged file.
    """
    last, has_items = "", False
    try:
        for item in records(source):
            has_items = True
            last = item.where if isinstance(item, Record) else last
            yield item
    except (TotalLimitError, MemoryError):
        raise
    except (UnknownFormatError, LimitError) as error:
        yield Reject(source.where, str(error))
    except DAMAGE as error:
        raise_if_disk_full(error)
        yield _damaged(source, error, last)
    except Exception as error:
        if not is_binary:
            raise
        yield _damaged(source, error, last)
    else:
        if not has_items:
            yield Notice(source.where, "The file has no documents.")
    yield from source.repairs.notices(source.where)


def _damaged(source: SourceFile, error: Exception, last: str) -> Reject:
    note = f"what came before (up to {last}) is kept" if last else "nothing of it is kept"
    return Reject(source.where, f"Expected a whole file, but got {reason_of(error)}; {note}: fetch it again.")


def raise_if_disk_full(error: BaseException) -> None:
    """If the disk of the temporary copies is full, the file is not to blame."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        raise error


def reason_of(error: BaseException) -> str:
    """The error's message, or its name if it has none."""
    return str(error) or type(error).__name__
