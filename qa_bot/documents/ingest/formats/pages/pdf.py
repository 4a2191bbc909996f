"""Reads PDF files, one document a file: headings, paragraphs, lists, tables, and the page of each.

Two passes: the first collects words, typography and running lines, the second writes. Pages without text are read by
text recognition if it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.pages import pdfium
from qa_bot.documents.ingest.formats.pages.columns import regions
from qa_bot.documents.ingest.formats.pages.flow import Flow
from qa_bot.documents.ingest.formats.pages.lines import Line, Rule, joined, pieces_of, rows_of
from qa_bot.documents.ingest.formats.pages.running_lines import RunningLines
from qa_bot.documents.ingest.formats.pages.tables import split_tables
from qa_bot.documents.ingest.formats.pages.typography import Typography
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

TITLE_CHARACTERS = 150
NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel)\b.*|\(?(?:anonymous|untitled|unspecified|unknown)\)?"
    r"|(?:document|dokument|slide)\d*|.*\.(?:docx?|pptx?|xlsx?|odt|pdf|indd|tex|dvi|rtf|qxd|pages|html?)|https?:\S+",
    re.IGNORECASE,
)


class _PageRows(NamedTuple):
    """A page that could be read: its number and height, its rows and drawn rules."""

    number: int
    height: float
    rows: list[list[Line]]
    rules: list[Rule]


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; its title from the metadata, else its first heading, else the stem."""
    with file.file() as stream:
        try:
            with pdfium.opened(stream) as document:
                yield from _document(file, document)
        except pdfium.PasswordError:
            yield Reject(file.where, "Expected a readable PDF, but got one with a password; save it without.")
        except pdfium.DamageError as error:
            yield Reject(file.where, f"Expected a readable PDF, but got a broken one ({error}); save it anew.")


def _document(file: SourceFile, document: pdfium.Document) -> Iterator[Item]:
    pages: list[_PageRows] = []
    scanned: list[int] = []
    damaged: list[int] = []
    running = RunningLines()
    size = 0
    for number in range(1, len(document) + 1):
        try:
            page = document.page(number)
        except pdfium.DamageError:
            damaged.append(number)
            continue
        rows = rows_of(pieces_of(page.words))
        size += sum(len(piece.text) for row in rows for piece in row)
        if size > file.limits.record_bytes:
            yield Reject(file.where, over_record_limit(file.limits))
            return
        if rows:
            running.count(rows, page.height)
            pages.append(_PageRows(number, page.height, rows, page.rules))
        elif page.has_pictures:
            scanned.append(number)
    flow = _written(pages, running, document)
    text = file.repairs.clean(flow.writer.text)
    if not text:
        yield Reject(file.where, _no_text(scanned))
        return
    title = _title(document.title, file.name) or _first_heading(text) or PurePosixPath(file.name).stem
    yield Record(
        file.name,
        file.repairs.clean(title),
        text,
        where=f"{file.where}:1",
        markdown=True,
        date=document.date,
        positions=tuple(flow.writer.positions),
    )
    if damaged:
        yield Notice(file.where, f"{_pages(damaged)} could not be read; save the file anew.")
    if scanned:
        yield Notice(file.where, f"{_pages(scanned)} without text (scans?); run text recognition on them.")


def _written(pages: list[_PageRows], running: RunningLines, document: pdfium.Document) -> Flow:
    typography = Typography(document.outline())
    split = [split_tables(running.body(page.rows, page.height), page.rules) for page in pages]
    lines = [[line for row in rest for line in joined(row)] for _, rest in split]
    for page_lines in lines:
        typography.count(page_lines)
    typography.settle()
    flow = Flow(typography)
    for page, (tables, _), page_lines in zip(pages, split, lines, strict=True):
        flow.add(page.number, regions([*page_lines, *tables]))
    flow.end()
    return flow


def _title(metadata: str, name: str) -> str:
    """The title of the metadata, unless a program filled it in."""
    title = " ".join(metadata.split())
    is_name = title.casefold() in {PurePosixPath(name).name.casefold(), PurePosixPath(name).stem.casefold()}
    return "" if is_name or NO_TITLE.fullmatch(title) or not any(map(str.isalpha, title)) else title


def _first_heading(text: str) -> str:
    first = text.partition("\n")[0]
    return first.lstrip("# ") if first.startswith("#") and len(first) <= TITLE_CHARACTERS else ""


def _no_text(scanned: list[int]) -> str:
    kind = "a scan" if scanned else "none"
    return f"Expected a PDF with text, but got {kind}; run text recognition on it first."


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return f"Page{'s' if len(numbers) > 1 else ''} {shown}"
