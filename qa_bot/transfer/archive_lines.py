"""Reads the lines of an archive's parts as values; lines that are invalid become rejects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.records import Reject
from qa_bot.documents.reject_log import RejectLog
from qa_bot.transfer.archive import Archive, Kind, Part

Line = TypeVar("Line", bound=BaseModel)


def lines_of(leaf: SourceFile, kind: type[Line]) -> Iterator[tuple[str, Line] | Reject]:
    """The lines of a part with their locations."""
    for number, data in leaf.lines():
        where = f"{leaf.where}:{number}"
        line = _parse(data, kind, where, leaf)
        yield line if isinstance(line, Reject) else (where, line)


def all_lines(archive: Archive, kind: Kind, line: type[Line], log: RejectLog | None = None) -> Iterator[Line]:
    """The valid lines of all parts of a kind; the others go to the log."""
    for part in archive.parts(kind):
        yield from (valid for _, valid in valid_lines(archive, part, line, log))


def valid_lines(archive: Archive, part: Part, kind: type[Line], log: RejectLog | None) -> Iterator[tuple[str, Line]]:
    """The valid lines of a part; the others go to the log."""
    with archive.leaf(part) as leaf:
        for line in lines_of(leaf, kind):
            if not isinstance(line, Reject):
                yield line
            elif log:
                log.reject(line)


def _parse(data: bytes | None, kind: type[Line], where: str, leaf: SourceFile) -> Line | Reject:
    if data is None:
        return Reject(where, over_record_limit(leaf.limits))
    try:
        return kind.model_validate(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        return Reject(where, f"Expected a JSON object, but got broken JSON ({error}); export anew.")
    except ValidationError as error:
        return Reject(where, f"Expected a line of `qa-bot export`, but got {first_error(error)}; export anew.")


def first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'a line'}: {first['msg']}"
