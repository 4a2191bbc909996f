"""Limits on the bytes that come out of files and decompressors."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

from qa_bot.documents.ingest.records import Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

RATIO_FLOOR = 1024**2  # short repetitive files compress better than any limit; below this the ratio is not checked


class LimitError(Exception):
    """A limit was exceeded; the rest of the file is not read."""


class TotalLimitError(LimitError):
    """The limit on the whole input was exceeded; nothing more is read."""


class ByteBudget:
    """Counts the bytes of the whole input."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bytes = 0

    def add(self, count: int) -> None:
        self.bytes += count
        if self.bytes > self.limits.total_bytes:
            raise TotalLimitError(
                f"Expected at most {self.limits.total_bytes:,} bytes in the whole input, but got more; the rest is not "
                "read: split the input, or raise --max-total-bytes."
            )


class LayerBudget:
    """Counts the bytes of one layer of compression, and limits their ratio to the bytes on disk.

    `packed` is None for a plain file; `archive` is the budget of the archive that contains a member.
    """

    def __init__(self, total: ByteBudget, *, packed: int | None = None, archive: LayerBudget | None = None) -> None:
        self.total = total
        self.packed = packed
        self.archive = archive
        self.bytes = 0

    def add(self, count: int) -> None:
        self.total.add(count)
        self._grow(count)

    def _grow(self, count: int) -> None:
        self.bytes += count
        ratio = self.total.limits.ratio
        if self.packed is not None and self.bytes > max(RATIO_FLOOR, ratio * self.packed):
            raise LimitError(
                f"Expected at most {ratio} bytes for each of {self.packed:,} compressed ones, but got more than "
                f"{self.bytes - count:,} (a decompression bomb?); the rest is not read: raise --max-ratio if you "
                "trust it."
            )
        if self.archive is not None:
            self.archive._grow(count)


class ByteSource(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class CountingStream(io.RawIOBase):
    """A stream that counts the bytes read from it, and can show its first bytes in advance.

    If its size is given it ends there, also if more is written to the file meanwhile.
    """

    def __init__(self, source: ByteSource, budget: LayerBudget, *, size: int | None = None) -> None:
        self.source = source
        self.budget = budget
        self._left = size
        self._head = b""
        self._error: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._head[: len(view)]
        self._head = self._head[len(view) :]
        if not data and self._error is not None:
            raise self._error
        data = data or self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def head(self, size: int) -> bytes:
        """At most `size` first bytes without consuming them; an error behind them is raised when it is reached."""
        while len(self._head) < size and self._error is None:
            try:
                data = self._next(size - len(self._head))
            except Exception as error:  # raised by a later read, after the good bytes
                self._error = error
                break
            if not data:
                break
            self._head += data
        return self._head

    def _next(self, size: int) -> bytes:
        # read1 returns the bytes before a truncation; read would raise and lose them
        if self._left is not None:
            size = min(size, self._left)
        data: bytes = getattr(self.source, "read1", self.source.read)(size) if size else b""
        if self._left is not None:
            self._left -= len(data)
        self.budget.add(len(data))
        return data
