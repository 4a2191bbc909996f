"""One readable file, on disk or in an archive."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import IO

from qa_bot.documents.ingest.files.byte_budget import CountingStream, LimitError
from qa_bot.documents.ingest.files.charset import guessed_encoding
from qa_bot.documents.ingest.files.decoding import CHUNK, Recoded, Repairs, encoding_of
from qa_bot.documents.ingest.records import Limits

HEAD = 8 * 1024
SAMPLE = 256 * 1024  # bytes from which an encoding is guessed
PORTIONS = 8  # of a record's limit
SPOOL_IN_MEMORY = 8 * 1024**2
MEMBER = re.compile(r"!(?=[^\s.])")
"""Begins the name of a member of an archive or mail; a name such as "Hello!.md" has the sign, too."""


@dataclass(frozen=True)
class SourceFile:
    """A file's name relative to the path that the user gave (ids contain it), its location for messages, its bytes."""

    name: str
    where: str
    raw: CountingStream
    limits: Limits
    repairs: Repairs = field(default_factory=Repairs)
    format: str = ""  # if the archive around it says what it is
    depth: int = 0  # layers of archives and documents around it
    guesses_encoding: bool = False  # of bytes that are no UTF-8; formats for data are UTF-8 by their definition
    progress: Callable[[], None] = lambda: None  # a reader that works long, but steadily, calls it at times

    @property
    def stem(self) -> str:
        """A title for a document without one: the name without folders, the archive around it and its ending."""
        return stem_of(self.name)

    @property
    def head(self) -> bytes:
        return self.raw.head(HEAD)

    @cached_property
    def stream(self) -> io.BufferedReader:
        """The file recoded to valid UTF-8."""
        encoding = encoding_of(self.head)
        if encoding == "utf-8" and self.guesses_encoding and (guess := guessed_encoding(self.raw.head(SAMPLE))):
            encoding = self.repairs.guessed = guess
        return io.BufferedReader(Recoded(self.raw, encoding, self.repairs), CHUNK)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Numbered lines without line ends, or None for a line over the record limit."""
        number = 0
        while line := self.stream.readline(self.limits.record_bytes + 1):
            number += 1
            if len(line) > self.limits.record_bytes:
                self._skip_line(line)
                yield number, None
            else:
                yield number, line.rstrip(b"\r\n")

    def _skip_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self.stream.readline(CHUNK)

    def text(self) -> str:
        """The whole file; raises LimitError if it exceeds the record limit."""
        data = self.stream.read(self.limits.record_bytes + 1)
        if len(data) > self.limits.record_bytes:
            raise LimitError(over_record_limit(self.limits))
        return data.decode()

    def portions(self) -> Iterator[tuple[int, str]]:
        """The whole file, or if it exceeds the record limit its portions, each with the number of its first line.

        A portion has an eighth of the limit at most, and ends at an empty line if possible, else at a line end. Raises
        LimitError if a line exceeds the limit.
        """
        limit = self.limits.record_bytes
        data = self.stream.read(limit + 1)
        size, line = (len(data) if len(data) <= limit else max(1, limit // PORTIONS)), 1
        while data:
            end = _portion_end(data, size)
            if not end and len(data) > limit:
                raise LimitError(over_record_limit(self.limits))
            end = end or len(data)
            yield line, data[:end].decode()
            line += data.count(b"\n", 0, end)
            data = data[end:]
            if len(data) <= size or b"\n" not in data[size // 2 :]:
                data += self.stream.read(limit + 1 - len(data))

    def file(self) -> IO[bytes]:
        """The file with random access: the file on disk, or a temporary copy."""
        return random_access(self.raw)


def _portion_end(data: bytes, size: int) -> int:
    """The end of a portion of about `size` bytes; 0 if the data has no line end."""
    if len(data) <= size:
        return len(data)
    half = size // 2
    if (gap := data.rfind(b"\n\n", half, size)) >= 0:
        return gap + 2
    return data.rfind(b"\n", half, size) + 1 or data.find(b"\n", half) + 1


def stem_of(name: str) -> str:
    """The stem of a file's name, or of a member's in an archive or mail: "pack.zip!a/trains.md" is "trains"."""
    return PurePosixPath(MEMBER.split(name)[-1]).stem


def random_access(raw: CountingStream) -> IO[bytes]:
    """The bytes of a stream from the start, in a file that can seek."""
    if isinstance(raw.source, io.FileIO):
        return io.BufferedReader(io.FileIO(raw.source.name))
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_IN_MEMORY)  # noqa: SIM115  # the caller closes it
    try:
        while data := raw.read(CHUNK):
            spool.write(data)
    except BaseException:
        spool.close()
        raise
    spool.seek(0)
    return spool


def over_record_limit(limits: Limits) -> str:
    return (
        f"Expected at most {limits.record_bytes:,} bytes in a record, but got more; it is left out: split it, or "
        "raise --max-record-bytes."
    )
