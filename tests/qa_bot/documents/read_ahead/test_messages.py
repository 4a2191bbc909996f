"""Messages between the processes: what arrives is what was sent, or nothing."""

from __future__ import annotations

import os
from dataclasses import replace

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest.records import Limits, Notice, Position, Record, Reject
from qa_bot.documents.ingest.worker.messages import HEADER
from qa_bot.documents.read_ahead import messages
from qa_bot.documents.read_ahead.file_read import FileRead, Request, Settings
from qa_bot.documents.read_ahead.messages import FILE, NOTHING, file_frame, file_of, request_frame, request_of

RECORD = Record(
    "a.md",
    "Kilns",
    "# Kilns\n\n| kiln | degrees |\n|---|---|\n| one | 900 |\n\nThe kiln is hot.",
    where="/a.md:1",
    markdown=True,
    tags=("x", "y"),
    positions=(Position(0, page=1), Position(9, page=2)),
)
CUT = cut_record(RECORD, characters=200, overlap=1)
READ = FileRead("d1", (3, 4), 5, ((RECORD, replace(CUT, passages=tuple(CUT.passages))), (Reject("x", "y"), None)))


def sent(read: FileRead | None) -> tuple[bytes, FileRead | None]:
    data = file_frame(read)
    kind, size = HEADER.unpack_from(data)
    assert len(data) == HEADER.size + size
    return kind, file_of(kind, data[HEADER.size :])


def test_requests_hold_paths_of_any_bytes() -> None:
    requests = [Request(os.fsdecode(b"/tmp/caf\xe9.md"), 9, "caf\\xe9.md", True, "p/", "markdown")]
    settings = Settings(Limits(seconds=3), 1000, 100)
    assert request_of(request_frame(requests, settings)[HEADER.size :]) == (requests, settings)


def test_what_was_read_arrives_unchanged() -> None:
    assert sent(READ) == (FILE, READ)


def test_what_json_would_alter_is_not_sent() -> None:
    odd = replace(READ, items=((Notice("\udcff", "a lone surrogate"), None),))
    other = replace(READ, items=((replace(RECORD, tags=["a list"]), None),))  # type: ignore[arg-type]
    assert [sent(read) for read in (odd, other, None)] == 3 * [(NOTHING, None)]


def test_what_is_too_large_is_not_sent(monkeypatch) -> None:
    monkeypatch.setattr(messages, "LARGEST", 100)
    assert sent(READ) == (NOTHING, None)
