"""What the process of readers and its owner send each other: frames of JSON with a kind and a length.

Nothing is unpickled: a reader that was taken over by a hostile file can send wrong records, but no code.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from qa_bot.documents.ingest.records import Item, Limits, Notice, Part, Position, Record, Reject

HEADER = struct.Struct("!cI")  # kind, bytes of the payload

REQUEST, RECORD, REJECT, NOTICE, PART = b"q", b"r", b"j", b"n", b"p"
ALIVE = b"a"  # the reader works on; its time begins anew
END, OUT_OF_MEMORY, DISK_FULL, TOTAL_LIMIT = b"e", b"m", b"d", b"t"
KINDS: dict[type, bytes] = {Record: RECORD, Reject: REJECT, Notice: NOTICE}


class Request(NamedTuple):
    """The file to read, and the module and function that read it; `path` holds the bytes of the file system."""

    module: str
    function: str
    path: bytes
    name: str
    where: str
    limits: Limits


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(payload)) + payload


def request_frame(request: Request) -> bytes:
    fields = request._replace(limits=dataclasses.astuple(request.limits), path=request.path.decode("latin-1"))  # type: ignore[arg-type]
    return frame(REQUEST, orjson.dumps(list(fields)))


def request_of(payload: bytes) -> Request:
    module, function, path, name, where, limits = orjson.loads(payload)
    return Request(module, function, path.encode("latin-1"), name, where, Limits(*limits))


def item_frame(item: Item | Part) -> bytes:
    if isinstance(item, Part):
        names = orjson.dumps([_storable(item.name), _storable(item.where), item.date])
        return frame(PART, names + b"\n" + item.data)
    try:
        return frame(KINDS[type(item)], orjson.dumps(item, default=tuple))
    except orjson.JSONEncodeError:  # a lone surrogate, which UTF-8 cannot hold
        changes: Any = {
            field.name: _storable(value)
            for field in dataclasses.fields(item)
            if isinstance(value := getattr(item, field.name), str)
        }
        return frame(KINDS[type(item)], orjson.dumps(dataclasses.replace(item, **changes), default=tuple))


def item_of(kind: bytes, payload: bytes) -> Item | Part:
    return _part(payload) if kind == PART else READ[kind](orjson.loads(payload))


def _part(payload: bytes) -> Part:
    names, _, data = payload.partition(b"\n")
    name, where, date = orjson.loads(names)
    return Part(name, where, data, date)


def _record(fields: dict[str, Any]) -> Record:
    fields["tags"] = tuple(fields["tags"])
    fields["positions"] = tuple(Position(*position) for position in fields["positions"])
    return Record(**fields)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


READ: dict[bytes, Callable[[dict[str, Any]], Item]] = {
    RECORD: _record,
    REJECT: lambda fields: Reject(**fields),
    NOTICE: lambda fields: Notice(**fields),
}
"""Items from their fields."""
