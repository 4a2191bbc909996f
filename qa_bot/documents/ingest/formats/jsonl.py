"""One JSON object a line: BEIR, `{id, title, text, url}`, or `{question, answer}`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from qa_bot.documents.ingest.fields import record_of
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.records import Item, Record, Reject


def records(leaf: SourceFile) -> Iterator[Item]:
    """A record for each line; the id is `_id` or `id`, else `NAME#LINE`."""
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif line.strip():
            yield parsed(line, where=where, default_id=f"{leaf.name}#{number}", leaf=leaf)


def parsed(data: bytes, *, where: str, default_id: str, leaf: SourceFile) -> Record | Reject:
    """The record that one JSON object holds."""
    try:
        fields = json.loads(data)
    except RecursionError:
        return Reject(where, "Expected a flat JSON object, but got one nested too deeply; flatten it.")
    except ValueError as error:
        return Reject(where, f"Expected a JSON object, but got broken JSON ({error}); correct the line.")
    return record_of(fields, where=where, default_id=default_id, repairs=leaf.repairs)
