"""JSON lines or a JSON array of objects: BEIR, `{id, title, text, url, date}`, or `{question, answer}`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.data.json_elements import JsonEndError, elements
from qa_bot.documents.ingest.records import Item, Record, Reject


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each line; its id is `_id` or `id`, else `NAME#LINE`."""
    for number, line in file.lines():
        where = f"{file.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(file.limits))
        elif line.strip():
            yield parse(line, where=where, default_id=f"{file.name}#{number}", file=file)


def read_array(file: SourceFile) -> Iterator[Item]:
    """A record for each element of an array; its id is `_id` or `id`, else `NAME#ELEMENT`."""
    try:
        for number, (line, data) in enumerate(elements(file.stream, limit=file.limits.record_bytes), 1):
            where = f"{file.where}:{line}"
            if data is None:
                yield Reject(where, over_record_limit(file.limits))
            else:
                yield parse(data, where=where, default_id=f"{file.name}#{number}", file=file)
    except JsonEndError as error:
        yield Reject(file.where, str(error))


def parse(data: bytes, *, where: str, default_id: str, file: SourceFile) -> Record | Reject:
    """The record of one JSON object."""
    try:
        fields = json.loads(data)
    except RecursionError:
        return Reject(where, "Expected a flat JSON object, but got one nested too deeply; flatten it.")
    except ValueError as error:
        return Reject(where, f"Expected a JSON object, but got broken JSON ({error}); correct the line.")
    return record_of(fields, where=where, default_id=default_id, repairs=file.repairs)
