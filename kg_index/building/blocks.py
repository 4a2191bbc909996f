"""Reads plain, `.gz` and `.bz2` files as blocks of whole lines, in bounded memory."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

_READ = 1 << 18  # compressed bytes at a time
BLOCK = 1 << 20  # uncompressed bytes at a time
_PACKED = frozenset({".gz", ".bz2"})
_GZIP = 31  # zlib's window bits for data with a gzip header


class BrokenFileError(Exception):  # named for what it tells
    """A compressed file is damaged; the blocks before the damage have been yielded.

    `line` is the number of lines before the damage, if known.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def packing_of(path: Path) -> str:
    """`.gz`, `.bz2` or "" by the extension, in small letters."""
    suffix = path.suffix.lower()
    return suffix if suffix in _PACKED else ""


def unpacked(path: Path) -> Iterator[bytes]:
    """The bytes of a plain, `.gz` or `.bz2` file, at most `BLOCK` at a time.

    Raises BrokenFileError, after the last good bytes, if a compressed file is damaged or truncated.
    """
    with path.open("rb") as file:
        pieces = iter(lambda: file.read(_READ), b"")
        packing = packing_of(path)
        if packing == ".gz":
            yield from _members(pieces, _gzip_pieces)
        elif packing == ".bz2":
            yield from _members(pieces, _bzip2_pieces)
        else:
            yield from pieces


def whole_lines(chunks: Iterable[bytes], *, longest: int) -> Iterator[bytes | int]:
    """The same bytes, split after line ends (the last line may lack one).

    A line longer than `longest` bytes is replaced by its length in bytes.
    """
    pending: list[bytes] = []
    length = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end and length > longest:
            first = chunk.index(b"\n") + 1
            yield length + first
            pending, length, chunk = [], 0, chunk[first:]
            end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*pending, chunk[:end]])
            pending, length = [], 0
        length += len(chunk) - end
        pending = [*pending, chunk[end:]] if length <= longest else []
    if length > longest:
        yield length
    elif length:
        yield b"".join(pending)


class Stream:
    """A read-only file object over chunks of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def read(self, size: int = BLOCK) -> bytes:
        """At most `size` bytes; empty at the end."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


_Pieces = Callable[[bytes, _Unpacker | None], Iterator[tuple[bytes, _Unpacker | None]]]


def _members(packed: Iterator[bytes], unpack: _Pieces) -> Iterator[bytes]:
    """Unpacks a file of several concatenated members; the unpacker is None between two of them."""
    unpacker: _Unpacker | None = None
    read = 0
    try:
        for piece in packed:
            for data, now in unpack(piece, unpacker):
                unpacker = now
                yield data
            read += len(piece)
    except (zlib.error, OSError) as error:
        raise BrokenFileError(f"damaged packed data near byte {read} ({error})") from error
    if unpacker is not None:
        raise BrokenFileError(f"truncated packed data, cut off at byte {read}")


def _gzip_pieces(piece: bytes, unpacker: _Unpacker | None) -> Iterator[tuple[bytes, _Unpacker | None]]:
    inflater = unpacker
    while piece:
        if inflater is None:
            piece = piece.lstrip(b"\0")  # some writers pad their last block with zeros
            if not piece:
                return
            inflater = zlib.decompressobj(_GZIP)
        data = inflater.decompress(piece, BLOCK)
        piece = inflater.unused_data if inflater.eof else inflater.unconsumed_tail  # type: ignore[attr-defined]
        if inflater.eof:
            inflater = None
        yield data, inflater


def _bzip2_pieces(piece: bytes, unpacker: _Unpacker | None) -> Iterator[tuple[bytes, _Unpacker | None]]:
    inflater = unpacker
    while piece or (inflater is not None and not inflater.needs_input):  # type: ignore[attr-defined]
        inflater = inflater or bz2.BZ2Decompressor()
        data = inflater.decompress(piece, BLOCK)
        piece = inflater.unused_data if inflater.eof else b""
        if inflater.eof:
            inflater = None
        yield data, inflater
