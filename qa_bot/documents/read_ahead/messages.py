"""What the processes that read ahead get and send: JSON, in the frames of the process of readers.

Nothing is unpickled: a reader that was taken over by a hostile file can send wrong records, but no code.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import orjson

from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.cut_record import CutRecord
from qa_bot.documents.ingest.records import Limits
from qa_bot.documents.ingest.worker.messages import KINDS, READ, REQUEST, frame
from qa_bot.documents.read_ahead.file_read import FileRead, Request, Settings
from qa_core.types import details_of, known_fields, place_of

FILE, NOTHING = b"f", b"0"
LARGEST = 16 * 1024**2
"""Bytes of what was read of one file; with more, it is read at its turn."""


def request_frame(requests: Sequence[Request], settings: Settings) -> bytes:
    """Files to read, one after the other."""
    files = [(_as_text(one.location), *one[1:]) for one in requests]
    limits = dataclasses.astuple(settings.limits)
    return frame(REQUEST, orjson.dumps([files, [limits, *settings[1:]]]))


def request_of(payload: bytes) -> tuple[list[Request], Settings]:
    files, (limits, characters, overlap) = orjson.loads(payload)
    requests = [Request(os.fsdecode(location.encode("latin-1")), *fields) for location, *fields in files]
    return requests, Settings(Limits(*limits), characters, overlap)


def file_frame(read: FileRead | None) -> bytes:
    """What was read of a file; nothing if JSON would alter it, such as lone surrogates."""
    if read is None:
        return frame(NOTHING)
    items = [(KINDS[type(item)].decode(), item, _cut_fields(cut)) for item, cut in read.items]
    try:
        payload = orjson.dumps([read.digest, read.state, read.bytes, items], default=tuple)
    except orjson.JSONEncodeError:
        return frame(NOTHING)
    is_same = len(payload) <= LARGEST and file_of(FILE, payload) == read
    return frame(FILE, payload) if is_same else frame(NOTHING)


def file_of(kind: bytes, payload: bytes) -> FileRead | None:
    """What was read of a file; None for nothing, or if the payload is malformed."""
    if kind != FILE:
        return None
    try:
        digest, (size, mtime), bytes_, items = orjson.loads(payload)
        read = tuple((READ[item.encode()](fields), _cut_of(cut)) for item, fields, cut in items)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    return FileRead(digest, (size, mtime), bytes_, read)


def _cut_fields(cut: CutRecord | None) -> list[Any] | None:
    if cut is None:
        return None
    passages = [(one.text, one.start, one.end, known_fields(one.place), one.units) for one in cut.passages]
    return [cut.title, passages, known_fields(cut.details), sorted(cut.blocks)]


def _cut_of(fields: list[Any] | None) -> CutRecord | None:
    if fields is None:
        return None
    title, passages, details, blocks = fields
    cut = (
        CutPassage(text, start, end, place_of(place), tuple((first, last) for first, last in units))
        for text, start, end, place, units in passages
    )
    return CutRecord(title, tuple(cut), details_of(details), frozenset(blocks))


def _as_text(location: str) -> str:
    """The bytes of the file system, which may be no UTF-8."""
    return os.fsencode(location).decode("latin-1")
