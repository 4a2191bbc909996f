"""Compressed bodies: whole, in pieces, damaged, and larger than allowed."""

from __future__ import annotations

import gzip
import zlib

import pytest

from qa_bot.documents.websites.fetching.decompression import BodyReader, gunzip
from qa_bot.documents.websites.fetching.errors import BodyError

TEXT = b"cats sleep all day. " * 50


def unpack(encoding: str, data: bytes, *, limit: int = 10_000, piece: int = 7) -> bytes:
    reader = BodyReader(encoding, limit)
    for start in range(0, len(data), piece):
        reader.feed(data[start : start + piece])
    return reader.finish()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        (" X-GZip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
    ids=["none", "identity", "gzip", "x-gzip", "deflate", "raw deflate"],
)
@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_pieces_are_joined(encoding: str, data: bytes, piece: int) -> None:
    assert unpack(encoding, data, piece=piece) == TEXT


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_an_empty_body(encoding: str) -> None:
    assert unpack(encoding, b"") == b""


def test_a_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    reader = BodyReader("gzip", 1000)
    with pytest.raises(BodyError, match="at most 1,000 bytes"):
        reader.feed(bomb)
    assert len(reader._data) == 1001


@pytest.mark.parametrize(
    ("encoding", "data", "reason"),
    [
        ("", bytes(101), "at most 100 bytes"),
        ("br", b"x", "'br'"),
        ("gzip, gzip", b"x", "encodings"),
        ("gzip", b"no gzip", "damaged"),
        ("gzip", gzip.compress(b"cats")[:-4], "truncated"),
    ],
    ids=["large", "unknown", "two", "damaged", "truncated"],
)
def test_bodies_that_cannot_be_read(encoding: str, data: bytes, reason: str) -> None:
    with pytest.raises(BodyError, match=reason):
        unpack(encoding, data, limit=100)


def test_gzip_files() -> None:
    assert gunzip(gzip.compress(TEXT), 10_000) == TEXT
    with pytest.raises(BodyError):
        gunzip(gzip.compress(TEXT), 10)
