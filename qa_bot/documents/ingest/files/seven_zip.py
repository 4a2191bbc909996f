"""Copies one member of a 7z archive into a temporary file. The only file that imports py7zr."""

from __future__ import annotations

import tempfile
from pathlib import PurePosixPath
from typing import IO

import py7zr
from py7zr.io import Py7zIO, WriterFactory

from qa_bot.documents.ingest.files.byte_budget import LayerBudget, LimitError

SPOOL_IN_MEMORY = 8 * 1024**2


class SevenZipError(Exception):
    """The archive is broken, encrypted, or has no such member."""


class _Spool(Py7zIO):
    """Receives what py7zr writes; the budget may raise."""

    def __init__(self, file: IO[bytes], budget: LayerBudget) -> None:
        self.file = file
        self.budget = budget
        self.written = 0

    def write(self, data: bytes | bytearray) -> int:
        self.budget.add(len(data))
        self.written += len(data)
        return self.file.write(data)

    def read(self, size: int | None = None) -> bytes:
        return self.file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def flush(self) -> None:
        self.file.flush()

    def size(self) -> int:
        return self.written


class _One(WriterFactory):
    def __init__(self, spool: _Spool) -> None:
        self.spool = spool

    def create(self, filename: str) -> _Spool:  # noqa: ARG002  # the interface names it
        return self.spool


def member(archive: IO[bytes], name: str, budget: LayerBudget) -> tuple[str, IO[bytes]]:
    """The path and the bytes of the first member with the file name `name`.

    Raises SevenZipError, or LimitError if it exceeds the budget.
    """
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_IN_MEMORY)  # noqa: SIM115  # the caller closes it
    try:
        with py7zr.SevenZipFile(archive) as opened:
            path = _find(opened, name)
            _check_size(opened, budget)
            opened.extract(targets=[path], factory=_One(_Spool(spool, budget)))
    except BaseException as error:
        spool.close()
        if isinstance(error, LimitError | SevenZipError | OSError) or not isinstance(error, Exception):
            raise
        # hostile input: py7zr raises nearly everything on a broken archive
        raise SevenZipError(f"Expected a readable 7z archive, but got {error!r}; fetch it again.") from error
    spool.seek(0)
    return path, spool


def _check_size(opened: py7zr.SevenZipFile, budget: LayerBudget) -> None:
    """py7zr also unpacks the members before this one, uncounted; it stops at their declared sizes."""
    declared = sum(info.uncompressed for info in opened.list())
    if declared > (most := budget.total.limits.total_bytes):
        raise LimitError(
            f"Expected at most {most:,} bytes in the archive, but got {declared:,}; unpack the archive, or raise "
            "--max-total-bytes."
        )


def _find(opened: py7zr.SevenZipFile, name: str) -> str:
    if opened.needs_password():
        raise SevenZipError("Expected an archive without a password, but got an encrypted one; pack it without.")
    paths = [str(path) for path in opened.getnames()]
    for path in paths:
        if PurePosixPath(path).name == name:
            return path
    raise SevenZipError(f"Expected {name} in the 7z archive, but got {', '.join(paths[:5])}; unpack the archive.")
