"""Tab-separated documents: MS MARCO's collections, or rows under a header that names the fields.

Rows of MS MARCO are split at tabs only. Under a header, cells may be quoted and then hold line breaks (RFC 4180).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.data.fields import is_date_field, record_of
from qa_bot.documents.ingest.records import Item, Record, Reject

COLUMNS: Mapping[int, tuple[str, ...]] = {
    2: ("id", "text"),  # MS MARCO passages
    3: ("id", "title", "text"),
    4: ("id", "url", "title", "text"),  # MS MARCO documents
}
ALIASES = {"pid": "id", "docid": "id", "passage": "text", "link": "url"}
KNOWN = {"_id", "id", "title", "text", "question", "answer", "body", "url"}

Line = tuple[int, bytes | None]


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each row; without an id column its id is `NAME#LINE`."""
    lines = file.lines()
    first = next(lines, None)
    if first is None:
        return
    names = header(first[1].decode().split("\t")) if first[1] is not None else None
    if names is not None:
        yield from _quoted(lines, names, file)
        return
    for number, line in chain([first], lines):
        if line is None:
            yield Reject(f"{file.where}:{number}", over_record_limit(file.limits))
        elif line.strip():
            cells = line.decode().split("\t")
            yield _row(cells, COLUMNS.get(len(cells)), number, file)


def header(cells: Sequence[str]) -> tuple[str, ...] | None:
    """The names of a header's columns, or None if it has neither a text, nor a question and its answer."""
    names = tuple(ALIASES.get(name, name) for name in (cell.strip().lower() for cell in cells))
    named = KNOWN.intersection(names)
    is_header = "text" in named or {"question", "answer"} <= named
    return names if is_header and len(named) >= 2 else None


def is_field(name: str) -> bool:
    """Whether a column is a field of a record."""
    return name in KNOWN or is_date_field(name)


def _quoted(lines: Iterator[Line], header: tuple[str, ...], file: SourceFile) -> Iterator[Item]:
    rejects: list[Reject] = []
    number = 1

    def within_limit() -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # the line where a row ends, for messages
            if line is None:
                rejects.append(Reject(f"{file.where}:{number}", over_record_limit(file.limits)))
            else:
                yield line.decode() + "\n"

    rows = csv.reader(within_limit(), delimiter="\t")
    while True:
        begin = number + 1
        try:
            cells = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            reason = f"Expected a row, but got {error} (a quotation mark that never closes?); correct the cell."
            rejects.append(Reject(f"{file.where}:{begin}", reason))
            continue
        finally:
            yield from rejects
            rejects.clear()
        if any(cells):
            yield _row(cells, header, begin, file)


def _row(cells: list[str], names: tuple[str, ...] | None, number: int, file: SourceFile) -> Record | Reject:
    where = f"{file.where}:{number}"
    if names is None or len(names) != len(cells):
        expected = str(len(names)) if names else "2 (id, text), 3 (id, title, text) or 4 (id, url, title, text)"
        return Reject(where, f"Expected {expected} columns, but got {len(cells)}; correct the tabs of the line.")
    fields = {name: cell for name, cell in zip(names, cells, strict=True) if is_field(name)}
    return record_of(fields, where=where, default_id=f"{file.name}#{number}", repairs=file.repairs)
