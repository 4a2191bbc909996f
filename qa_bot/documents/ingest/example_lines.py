"""Reads files with one training example a line, with the limits, archives and repairs of `qa-bot add`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject

LONGEST = 1 << 20  # bytes of a line

Example = TypeVar("Example")


@dataclass(frozen=True, slots=True)
class Line(Generic[Example]):
    """A parsed line, its text and its location."""

    example: Example
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class _Line(Record):
    """A line on its way through `read`; `text` is the whole line."""


def read_lines(paths: Sequence[Path], parse: Callable[[str], Example]) -> Iterator[Line[Example] | Reject | Notice]:
    """Parse every line of files and folders that is not blank.

    A line for which `parse` raises ValueError is rejected with the error's message, as is one over `LONGEST` bytes.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    budget = ByteBudget(Limits(record_bytes=LONGEST))
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist; check --data.")
        for item in read(path, format="text", budget=budget, readers={"text": _lines}):
            if not isinstance(item, Record):
                yield item
                continue
            try:
                yield Line(parse(item.text), item.text, item.where)
            except ValueError as error:
                yield Reject(item.where, str(error))


def _lines(file: SourceFile) -> Iterator[Item]:
    for number, line in file.lines():
        where = f"{file.where}:{number}"
        if line is None:
            yield Reject(where, f"Expected at most {LONGEST:,} bytes in a line, but got more; split it.")
        elif text := line.decode().strip("\ufeff\r\n "):
            yield _Line(where, "", text, where=where)
