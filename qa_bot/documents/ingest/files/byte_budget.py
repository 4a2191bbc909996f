"""Bytes produced, counted where they come out of a file or a decompressor."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

from qa_bot.documents.ingest.records import Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

RATIO_FLOOR = 1024**2  # short repetitive files compress better than any bound; below this the ratio is not asked


class LimitError(Exception):
    """A bound is reached: the file, or the rest of it, is not read."""


class TotalLimitError(LimitError):
    """The bound over the whole input is reached: nothing more is read."""


class ByteBudget:
    """Bytes produced so far over the whole input."""

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
    """Bytes that came out of one layer, against the bytes on disk that they came from.

    `packed` is None for a plain file; `archive` is the meter of the archive that a member belongs to.
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
    """A stream that counts what is read from it and can show its first bytes beforehand."""

    def __init__(self, source: ByteSource, meter: LayerBudget) -> None:
        self.source = source
        self.meter = meter
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
        """The first bytes, at most `size`, which stay to be read; an error after them waits until it is reached."""
        while len(self._head) < size and self._error is None:
            try:
                data = self._next(size - len(self._head))
            except Exception as error:  # told by the next read, behind the bytes that are good
                self._error = error
                break
            if not data:
                break
            self._head += data
        return self._head

    def _next(self, size: int) -> bytes:
        # read1 hands over what came before a truncation, where read would raise and lose it
        data: bytes = getattr(self.source, "read1", self.source.read)(size)
        self.meter.add(len(data))
        return data
