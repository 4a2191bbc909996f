"""Reads the objects of a large JSON array one by one from a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

STRUCTURE = re.compile(rb'["{}\[\]]')
STRING = re.compile(rb'["\\]')
CHUNK = 64 * 1024


class JsonEndError(ValueError):
    """The JSON ends before its brackets are closed."""


def elements(stream: IO[bytes], *, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Line number and bytes of each object in the root array, or in an array of the root object.

    The bytes are None for an element over `limit` bytes. Raises JsonEndError if the stream ends too early.
    """
    slicer = _Slicer(limit)
    while chunk := stream.read(CHUNK):
        yield from slicer.feed(chunk)
    if slicer.depth != 0 or slicer.in_string:
        raise JsonEndError("Expected the end of the JSON text, but the file ends in the middle; fetch it again.")


class _Slicer:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.depth = 0
        self.in_string = False
        self.level = 0  # depth of the wanted elements once the root is seen: 2 under an array, 3 under an object
        self.line = 1  # of the first byte that is held
        self.held = b""
        self.position = 0
        self.start = -1
        self.too_long = False

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        self.held += chunk
        while match := (STRING if self.in_string else STRUCTURE).search(self.held, self.position):
            self.position = match.end()
            if self.in_string:
                self._in_string(match[0])
            elif (element := self._step(match[0])) is not None:
                yield element
        self.position = max(self.position, len(self.held))
        self._drop()

    def _in_string(self, mark: bytes) -> None:
        if mark == b"\\":
            self.position += 1
        else:
            self.in_string = False

    def _step(self, mark: bytes) -> tuple[int, bytes | None] | None:
        if mark == b'"':
            self.in_string = True
        elif mark in b"{[":
            self.depth += 1
            self.level = self.level or (2 if mark == b"[" else 3)
            if mark == b"{" and self.depth == self.level:
                self.start = self.position - 1
        else:
            self.depth -= 1
            if mark == b"}" and self.depth == self.level - 1 and self.start >= 0:
                return self._element()
        return None

    def _element(self) -> tuple[int, bytes | None]:
        data = None if self.too_long else self.held[self.start : self.position]
        line = self.line + self.held.count(b"\n", 0, self.start)
        self.start, self.too_long = -1, False
        return line, data if data is None or len(data) <= self.limit else None

    def _drop(self) -> None:
        """Drop the bytes that were read, except an open element within the limit."""
        self.too_long = self.start >= 0 and (self.too_long or len(self.held) - self.start > self.limit)
        keep = self.start if self.start >= 0 and not self.too_long else len(self.held)
        self.line += self.held.count(b"\n", 0, keep)
        self.held = self.held[keep:]
        self.position -= keep
        self.start = 0 if self.start >= 0 else -1
