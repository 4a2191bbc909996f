"""Unpacks compressed bodies piece by piece, never more than a limit."""

from __future__ import annotations

import zlib

from qa_bot.documents.websites.fetching.errors import BodyError

GZIP_MAGIC = b"\x1f\x8b"
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
ACCEPTED = "gzip, deflate"


class BodyReader:
    """Collects the pieces of a body; `encoding` is the reply's Content-Encoding, and the limit is in bytes."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._encoding = encoding.strip().lower()
        self._unpacker = _unpacker(self._encoding)
        self._is_first = True

    def feed(self, piece: bytes) -> None:
        """Raises BodyError if the body exceeds the limit or is damaged."""
        if self._unpacker is None:
            self._add(piece)
            return
        if self._is_first and piece:
            self._is_first = False
            self._accept_raw_deflate(piece)
        while piece and not self._unpacker.eof:
            try:
                self._add(self._unpacker.decompress(piece, self._limit + 1 - len(self._data)))
            except zlib.error as error:
                raise BodyError(f"Expected a compressed body, but got a damaged one ({error}).") from None
            piece = self._unpacker.unconsumed_tail

    def finish(self) -> bytes:
        """The whole body; raises BodyError if it was cut off."""
        if self._unpacker is not None and not self._is_first and not self._unpacker.eof:
            raise BodyError("Expected a whole compressed body, but got a truncated one.")
        return bytes(self._data)

    def _add(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > self._limit:
            raise BodyError(f"Expected at most {self._limit:,} bytes in a page, but got more.")

    def _accept_raw_deflate(self, piece: bytes) -> None:
        """Some servers send `deflate` without zlib's header."""
        if self._encoding == "deflate" and piece[0] & 0x0F != zlib.DEFLATED:
            self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)


def _unpacker(encoding: str) -> zlib._Decompress | None:
    if encoding in {"", "identity"}:
        return None
    if encoding not in _WINDOWS:
        raise BodyError(f"Expected one of the encodings {ACCEPTED}, but got {encoding!r}.")
    return zlib.decompressobj(_WINDOWS[encoding])


def gunzip(data: bytes, limit: int) -> bytes:
    """The unpacked bytes of a gzip file; raises BodyError if there are more than the limit."""
    reader = BodyReader("gzip", limit)
    reader.feed(data)
    return reader.finish()
