"""JSON lines or a JSON array of objects: BEIR, `{id, title, text, url, date}`, or `{question, answer}`.

An object of another kind may have questions and answers inside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.data.json_elements import JsonEndError, elements
from qa_bot.documents.ingest.formats.data.nested_pairs import nested_pairs
from qa_bot.documents.ingest.formats.pair_names import QUESTIONS
from qa_bot.documents.ingest.records import Item, Record, Reject


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each line; its id is `_id` or `id`, else `NAME#LINE`."""
    for number, line in file.lines():
        where = f"{file.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(file.limits))
        elif line.strip():
            yield from _items(line, where=where, default_id=f"{file.name}#{number}", file=file)


def read_array(file: SourceFile) -> Iterator[Item]:
    """A record for each element of an array; its id is `_id` or `id`, else `NAME#ELEMENT`."""
    try:
        for number, (line, data) in enumerate(elements(file.stream, limit=file.limits.record_bytes), 1):
            where = f"{file.where}:{line}"
            if data is None:
                yield Reject(where, over_record_limit(file.limits))
            else:
                yield from _items(data, where=where, default_id=f"{file.name}#{number}", file=file)
    except JsonEndError as error:
        yield Reject(file.where, str(error))


def read_object(file: SourceFile) -> Iterator[Item]:
    """The questions and answers inside a single JSON object; their ids are `NAME#1.NUMBER` unless they have some."""
    yield from _items(file.text().encode(), where=f"{file.where}:1", default_id=f"{file.name}#1", file=file)


def parse(data: bytes, *, where: str, default_id: str, file: SourceFile) -> Record | Reject:
    """The record of one JSON object."""
    return next(_items(data, where=where, default_id=default_id, file=file, only_outer=True))


def _items(
    data: bytes, *, where: str, default_id: str, file: SourceFile, only_outer: bool = False
) -> Iterator[Record | Reject]:
    """The record of one JSON object, or those of the questions and answers inside it (`ID.NUMBER`)."""
    try:
        fields = json.loads(data)
    except RecursionError:
        yield Reject(where, "Expected a flat JSON object, but got one nested too deeply; flatten it.")
        return
    except ValueError as error:
        yield Reject(where, f"Expected a JSON object, but got broken JSON ({error}); correct the line.")
        return
    item = record_of(fields, where=where, default_id=default_id, repairs=file.repairs)
    is_other = isinstance(item, Reject) and isinstance(fields, dict) and {*fields}.isdisjoint(("text", *QUESTIONS))
    pairs = [*nested_pairs(fields)] if is_other and not only_outer else []
    for number, pair in enumerate(pairs, 1):
        yield record_of(pair, where=where, default_id=f"{default_id}.{number}", repairs=file.repairs)
    if not pairs:
        yield item
