"""JSON lines or a JSON array of objects: BEIR, `{id, title, text, url, date}`, or `{question, answer}`.

An object of another kind may have questions and answers inside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.data.json_elements import JsonEndError, elements
from qa_bot.documents.ingest.formats.data.nested_pairs import nested_pairs
from qa_bot.documents.ingest.formats.data.other_objects import written
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
    """A record for each element of an array; its id is `_id` or `id`, else `NAME#ELEMENT`.

    If all are objects of other kinds, they are one document.
    """
    others: list[tuple[int, bytes]] | None = []  # the elements so far, with their lines, if all are of other kinds
    size = 0
    try:
        for number, (line, data) in enumerate(elements(file.stream, limit=file.limits.record_bytes), 1):
            size += len(data or b"")
            if others is not None and data is not None and size <= file.limits.record_bytes and _other_fields(data):
                others.append((line, data))
                continue
            for place, (begin, other) in enumerate(others or (), 1):
                yield from _element(other, begin, place, file)
            others = None
            yield from _element(data, line, number, file)
    except JsonEndError as error:
        yield Reject(file.where, str(error))
    if others:
        yield from _table(others, file)


def _element(data: bytes | None, line: int, number: int, file: SourceFile) -> Iterator[Record | Reject]:
    where = f"{file.where}:{line}"
    if data is None:
        yield Reject(where, over_record_limit(file.limits))
    else:
        yield from _items(data, where=where, default_id=f"{file.name}#{number}", file=file)


def _table(elements: Sequence[tuple[int, bytes]], file: SourceFile) -> Iterator[Record | Reject]:
    """One record with the elements as rows or sections, or a reject for each if they have no words."""
    text = file.repairs.clean(written([_other_fields(data) for _, data in elements]).text)
    if text:
        yield Record(file.name, file.stem, text, where=f"{file.where}:1", markdown=True)
        return
    for number, (line, data) in enumerate(elements, 1):
        yield from _element(data, line, number, file)


def _other_fields(data: bytes) -> dict[str, object]:
    """The fields of a JSON object without known ones, and without questions inside it; {} for all else."""
    try:
        fields = json.loads(data)
    except (RecursionError, ValueError):
        return {}
    return fields if _is_other(fields) and next(nested_pairs(fields), None) is None else {}


def _is_other(fields: object) -> bool:
    """Whether a value is an object without a text or a question."""
    return isinstance(fields, dict) and {name.strip().lower() for name in fields}.isdisjoint(("text", *QUESTIONS))


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
    is_other = isinstance(item, Reject) and _is_other(fields)
    pairs = [*nested_pairs(fields)] if is_other and not only_outer else []
    for number, pair in enumerate(pairs, 1):
        yield record_of(pair, where=where, default_id=f"{default_id}.{number}", repairs=file.repairs)
    if not pairs:
        yield item
