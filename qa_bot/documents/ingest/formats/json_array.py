"""A JSON array whose objects are what JSONL has on its lines."""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.json_elements import JsonEndError, elements
from qa_bot.documents.ingest.formats.jsonl import parsed
from qa_bot.documents.ingest.records import Item, Reject


def records(leaf: SourceFile) -> Iterator[Item]:
    """A record for each element; without an id of its own it is `NAME#ELEMENT`."""
    try:
        for number, (line, data) in enumerate(elements(leaf.stream, limit=leaf.limits.record_bytes), 1):
            where = f"{leaf.where}:{line}"
            if data is None:
                yield Reject(where, over_record_limit(leaf.limits))
            else:
                yield parsed(data, where=where, default_id=f"{leaf.name}#{number}", leaf=leaf)
    except JsonEndError as error:
        yield Reject(leaf.where, str(error))
