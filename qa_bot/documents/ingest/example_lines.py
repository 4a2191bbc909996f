"""Files of lines, each of which tells something by itself: with the bounds, archives and repairs of `qa-bot add`."""

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

Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Line(Generic[Told]):
    """What a line tells, and the line as it stood."""

    told: Told
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class _Line(Record):
    """A line on its way through the reader of files; `text` is all of it."""


def read_lines(paths: Sequence[Path], parse: Callable[[str], Told]) -> Iterator[Line[Told] | Reject | Notice]:
    """What `parse` makes of each line that is not blank, of files, or of all files of folders.

    A ValueError of `parse` rejects its line with the error's words; so is a line over `LONGEST` bytes.

    Raises:
        FileNotFoundError: nothing is at a path.
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


def _lines(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, f"Expected at most {LONGEST:,} bytes in a line, but got more; split it.")
        elif text := line.decode().strip("\ufeff\r\n "):
            yield _Line(where, "", text, where=where)
