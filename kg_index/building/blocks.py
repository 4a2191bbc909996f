"""Files as blocks of whole lines, unpacked as they are read: memory does not grow with the file."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

_READ = 1 << 18  # packed bytes at a time
BLOCK = 1 << 20  # unpacked bytes at a time
_GZIP = 31  # zlib's number for "with a gzip header"


class BrokenFileError(Exception):  # named for what it tells
    """A packed file cannot be unpacked to its end; what came before has been given out.

    `line` is how many lines that was, where it is known.
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


def unpacked(path: Path) -> Iterator[bytes]:
    """The bytes of a plain, `.gz` or `.bz2` file, at most `BLOCK` at a time.

    Raises BrokenFileError, after the last good bytes, where a packed file is damaged or cut off.
    """
    with path.open("rb") as file:
        pieces = iter(lambda: file.read(_READ), b"")
        if path.suffix == ".gz":
            yield from _members(pieces, _gzip_pieces)
        elif path.suffix == ".bz2":
            yield from _members(pieces, _bzip2_pieces)
        else:
            yield from pieces


def whole_lines(chunks: Iterable[bytes], *, longest: int) -> Iterator[bytes | int]:
    """The same bytes cut behind line ends (the last line may lack its end).

    A line longer than `longest` bytes is not kept: its length in bytes is given instead, and counts as one line.
    """
    kept: list[bytes] = []
    length = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end and length > longest:
            first = chunk.index(b"\n") + 1
            yield length + first
            kept, length, chunk = [], 0, chunk[first:]  # the rest of the chunk is told as any other
            end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*kept, chunk[:end]])
            kept, length = [], 0
        length += len(chunk) - end
        kept = [*kept, chunk[end:]] if length <= longest else []
    if length > longest:
        yield length
    elif length:
        yield b"".join(kept)


class Stream:
    """A file object, to be read only, over chunks of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def read(self, size: int = BLOCK) -> bytes:
        """At most `size` bytes, none at the end."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        given, self._rest = self._rest[:size], self._rest[size:]
        return given


_Pieces = Callable[[bytes, _Unpacker | None], Iterator[tuple[bytes, _Unpacker | None]]]


def _members(packed: Iterator[bytes], unpack: _Pieces) -> Iterator[bytes]:
    """A packed file may be several put one behind the other; `None` stands between two of them."""
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
        raise BrokenFileError(f"packed data that is cut off at byte {read}")


def _gzip_pieces(piece: bytes, unpacker: _Unpacker | None) -> Iterator[tuple[bytes, _Unpacker | None]]:
    inflater = unpacker
    while piece:
        if inflater is None:
            piece = piece.lstrip(b"\0")  # some writers fill their last block with zeros
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
