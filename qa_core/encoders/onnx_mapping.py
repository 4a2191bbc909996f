"""An ONNX graph without its large tables, which stay in the file: onnxruntime maps them from there.

If onnxruntime reads the file itself, it holds every table twice for a moment, and the words' vectors for ever. The
shipped transformer (25 MB) then takes 46 MB; with its tables mapped it takes 22, because a question needs a few rows of
its words' vectors, and the matrices are packed into memory of the runtime in either case.

Only the wire format of protobuf is read here, not `onnx`, which is an extra.
(ONNX: `onnx.proto`; protobuf: Encoding, protobuf.dev.)
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LEAST = 1 << 16
"""Bytes of a table that stays in the file."""
_GRAPH, _INITIALIZER = 7, 5  # of ModelProto, of GraphProto
_TYPE, _RAW, _EXTERNAL, _LOCATION = 2, 9, 13, 14  # of TensorProto
_UINT8, _INT8 = 2, 3  # one byte a number: tables of others would have to lie at multiples of their size
_IN_FILE = 1


class _Field(NamedTuple):
    """A field of a message: where it starts, and where its content begins and ends."""

    number: int
    start: int
    content: int
    end: int


def without_tables(graph: Path) -> bytes | None:
    """The graph, whose large tables of 8-bit numbers are named by their place in the file; None if it has few of them.

    To be opened with the file's folder as `session.model_external_initializers_file_folder_path`.

    Raises:
        ValueError: it is no ONNX graph.
    """
    with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            is_worth = sum(raw.end - raw.content for raw in _tables(data)) > len(data) / 2  # else copies take more
            return b"".join(_model(data, graph.name)) if is_worth else None
        except IndexError:
            raise ValueError(f"Expected an ONNX graph at {graph}, but it ends too early.") from None


def _tables(data: mmap.mmap) -> Iterator[_Field]:
    """The contents of the tables that stay in the file."""
    for graph in _fields(data, 0, len(data)):
        for field in _fields(data, graph.content, graph.end) if graph.number == _GRAPH else ():
            if field.number == _INITIALIZER and (raw := _raw(data, field)):
                yield raw


def _raw(data: mmap.mmap, tensor: _Field) -> _Field | None:
    """The content of a table that stays in the file; None for any other."""
    if tensor.end - tensor.content < LEAST:
        return None
    fields = [*_fields(data, tensor.content, tensor.end)]
    kind = next((data[field.content] for field in fields if field.number == _TYPE), 0)
    raw = next((field for field in fields if field.number == _RAW), None)
    return raw if kind in (_UINT8, _INT8) else None


def _model(data: mmap.mmap, name: str) -> Iterator[bytes]:
    for field in _fields(data, 0, len(data)):
        if field.number == _GRAPH:
            yield _message(_GRAPH, b"".join(_graph(data, field, name)))
        else:
            yield data[field.start : field.end]


def _graph(data: mmap.mmap, graph: _Field, name: str) -> Iterator[bytes]:
    for field in _fields(data, graph.content, graph.end):
        if field.number == _INITIALIZER and (raw := _raw(data, field)):
            yield _message(_INITIALIZER, _tensor(data, field, raw, name))
        else:
            yield data[field.start : field.end]


def _tensor(data: mmap.mmap, tensor: _Field, raw: _Field, name: str) -> bytes:
    rest = data[tensor.content : raw.start] + data[raw.end : tensor.end]
    place = {"location": name, "offset": str(raw.content), "length": str(raw.end - raw.content)}
    entries = b"".join(
        _message(_EXTERNAL, _message(1, key.encode()) + _message(2, value.encode())) for key, value in place.items()
    )
    return rest + entries + _varint(_LOCATION << 3) + _varint(_IN_FILE)


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[_Field]:
    """The fields of the message between two places."""
    while start < end:
        key, content = _read_varint(data, start)
        match key & 7:
            case 0:  # a number
                _, last = _read_varint(data, content)
                field = _Field(key >> 3, start, content, last)
            case 2:  # bytes, a text or a message
                length, content = _read_varint(data, content)
                field = _Field(key >> 3, start, content, content + length)
            case 1 | 5 as width:
                field = _Field(key >> 3, start, content, content + (8 if width == 1 else 4))
            case kind:
                raise ValueError(f"Expected an ONNX graph, but got a field of the kind {kind}.")
        if field.end > end:
            raise IndexError
        yield field
        start = field.end


def _read_varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, lowest first, and the place behind it."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("Expected an ONNX graph, but got a number of more than 64 bits.")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _message(number: int, content: bytes) -> bytes:
    """A field with bytes."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content
