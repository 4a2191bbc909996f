"""An ONNX graph without its large tables, which stay in the file: onnxruntime maps them from there.

If onnxruntime reads the file itself, it holds every table twice for a moment, and the words' vectors for ever. The
shipped transformer (25 MB) then takes 46 MB; with its tables mapped it takes 22, because a question needs a few rows of
its words' vectors, and the matrices are packed into memory of the runtime in either case.

(ONNX: `onnx.proto`.)
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from qa_core.encoders.graphs.wire import Buffer, Field, fields, message, number

GRAPH, INITIALIZER = 7, 5
"""Fields of ModelProto and of GraphProto."""
LEAST = 1 << 16
"""Bytes of a table that stays in the file."""
_TYPE, _RAW, _EXTERNAL, _LOCATION = 2, 9, 13, 14  # of TensorProto
_UINT8, _INT8 = 2, 3  # one byte a number: tables of others would have to lie at multiples of their size
_IN_FILE = 1


def without_tables(graph: Path) -> bytes | None:
    """The graph, whose large tables of 8-bit numbers are named by their place in the file; None if it has few of them.

    To be opened with the file's folder as `session.model_external_initializers_file_folder_path`.

    Raises:
        ValueError: it is no ONNX graph.
    """
    with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            is_worth = sum(raw.end - raw.content for raw in _tables(data)) > len(data) / 2  # else copies take more
            return rewritten(data, partial(_graph, data, name=graph.name)) if is_worth else None
        except IndexError:
            raise ValueError(f"Expected an ONNX graph at {graph}, but it ends too early.") from None


def rewritten(data: Buffer, rewrite: Callable[[Field], Iterable[bytes]]) -> bytes:
    """The model with another graph, whose fields `rewrite` gives."""
    return b"".join(
        message(GRAPH, b"".join(rewrite(field))) if field.number == GRAPH else data[field.start : field.end]
        for field in fields(data, 0, len(data))
    )


def by_place(data: Buffer, initializer: Field, name: str) -> bytes:
    """An initializer of the file `name` by its place there if it is large; any other unchanged."""
    raw = _raw(data, initializer)
    if raw is None:
        return data[initializer.start : initializer.end]
    rest = data[initializer.content : raw.start] + data[raw.end : initializer.end]
    place = {"location": name, "offset": str(raw.content), "length": str(raw.end - raw.content)}
    entries = b"".join(
        message(_EXTERNAL, message(1, key.encode()) + message(2, value.encode())) for key, value in place.items()
    )
    return message(INITIALIZER, rest + entries + number(_LOCATION, _IN_FILE))


def _tables(data: Buffer) -> Iterator[Field]:
    """The contents of the tables that stay in the file."""
    for graph in fields(data, 0, len(data)):
        for field in fields(data, graph.content, graph.end) if graph.number == GRAPH else ():
            if field.number == INITIALIZER and (raw := _raw(data, field)):
                yield raw


def _raw(data: Buffer, tensor: Field) -> Field | None:
    """The content of a table that stays in the file; None for any other."""
    if tensor.end - tensor.content < LEAST:
        return None
    parts = [*fields(data, tensor.content, tensor.end)]
    kind = next((data[part.content] for part in parts if part.number == _TYPE), 0)
    raw = next((part for part in parts if part.number == _RAW), None)
    return raw if kind in (_UINT8, _INT8) else None


def _graph(data: Buffer, graph: Field, *, name: str) -> Iterator[bytes]:
    for field in fields(data, graph.content, graph.end):
        yield by_place(data, field, name) if field.number == INITIALIZER else data[field.start : field.end]
