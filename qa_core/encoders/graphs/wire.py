"""The wire format of protobuf, as far as ONNX graphs need it: fields are read where they lie, and messages are written.

The package `onnx` is an extra; the product has to open graphs without it. (Protobuf: Encoding, protobuf.dev.)
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import NamedTuple

Buffer = bytes | mmap.mmap


class Field(NamedTuple):
    """A field of a message: where it starts, and where its content begins and ends."""

    number: int
    start: int
    content: int
    end: int


def fields(data: Buffer, start: int, end: int) -> Iterator[Field]:
    """The fields of the message between two places.

    Raises:
        IndexError: the message ends too early.
        ValueError: it is no message of protobuf.
    """
    while start < end:
        key, content = read_varint(data, start)
        match key & 7:
            case 0:  # a number
                _, last = read_varint(data, content)
                field = Field(key >> 3, start, content, last)
            case 2:  # bytes, a text or a message
                length, content = read_varint(data, content)
                field = Field(key >> 3, start, content, content + length)
            case 1 | 5 as width:
                field = Field(key >> 3, start, content, content + (8 if width == 1 else 4))
            case kind:
                raise ValueError(f"Expected an ONNX graph, but got a field of the kind {kind}.")
        if field.end > end:
            raise IndexError
        yield field
        start = field.end


def read_varint(data: Buffer, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, lowest first, and the place behind it."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("Expected an ONNX graph, but got a number of more than 64 bits.")


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return _varint(field << 3) + _varint(value)


def message(field: int, content: bytes) -> bytes:
    """A field with bytes, a text or a message."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
