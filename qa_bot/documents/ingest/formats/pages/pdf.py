"""Reads PDF files, one document a file: headings, paragraphs, lists, tables, and the page of each.

Two passes: the first collects words, typography and running lines, the second writes. Pages without text are read by
text recognition if it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.document_title import first_title, stated_title
from qa_bot.documents.ingest.formats.pages import pdfium, recognition
from qa_bot.documents.ingest.formats.pages.flow import Flow
from qa_bot.documents.ingest.formats.pages.layout import PageRows, written
from qa_bot.documents.ingest.formats.pages.lines import pieces_of, rows_of
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

MOST_SCANS = 500  # pages; each takes seconds


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; its title from the metadata, else a heading, else the stem."""
    with file.file() as stream:
        try:
            with pdfium.opened(stream) as document:
                yield from _document(file, document)
        except pdfium.PasswordError:
            yield Reject(file.where, "Expected a readable PDF, but got one with a password; save it without.")
        except pdfium.DamageError as error:
            yield Reject(file.where, f"Expected a readable PDF, but got a broken one ({error}); save it anew.")


def _document(file: SourceFile, document: pdfium.Document) -> Iterator[Item]:
    pages: list[PageRows] = []
    scanned: list[int] = []
    damaged: list[int] = []
    size = 0
    for number in range(1, len(document) + 1):
        try:
            page = document.page(number)
        except pdfium.DamageError:
            damaged.append(number)
            continue
        rows = rows_of(pieces_of(page.words, page.uprights))
        size += sum(len(piece.text) for row in rows for piece in row)
        if size > file.limits.record_bytes:
            yield Reject(file.where, over_record_limit(file.limits))
            return
        if page.is_scan:
            scanned.append(number)
        if (rows or page.notes) and not (page.is_scan and recognition.is_available()):
            pages.append(PageRows(number, page.height, rows, page.rules, page.notes, page.uprights, page.width))
    recognised, unread = _recognised(file, document, scanned)
    is_recognised = len(recognised) > len(pages)
    flow = written(sorted([*pages, *recognised]), document.outline(), is_recognised=is_recognised)
    yield from _record(file, flow, document, unread)
    if flow.writer.text and damaged:
        yield Notice(file.where, f"{_shown(damaged)} could not be read; save the file anew.")
    if flow.writer.text and unread:
        yield Notice(file.where, f"{_shown(unread)} without text (scans?); {recognition.HINT}.")


def _record(file: SourceFile, flow: Flow, document: pdfium.Document, scanned: list[int]) -> Iterator[Item]:
    text = file.repairs.clean(flow.writer.text)
    if not text:
        advice = f"a scan; {recognition.HINT}, or" if scanned else "none;"
        yield Reject(file.where, f"Expected a PDF with text, but got {advice} save it with text.")
        return
    title = stated_title(document.title, file.stem) or first_title(flow.writer, file.stem)
    yield Record(
        file.name,
        file.repairs.clean(title) or file.stem,
        text,
        where=f"{file.where}:1",
        markdown=True,
        date=document.date,
        positions=tuple(flow.writer.positions),
    )


def _recognised(file: SourceFile, document: pdfium.Document, scanned: list[int]) -> tuple[list[PageRows], list[int]]:
    """The pages that text recognition read, and the numbers of the others."""
    pages: list[PageRows] = []
    unread = scanned[MOST_SCANS:] if recognition.is_available() else list(scanned)
    for number in scanned[: len(scanned) - len(unread)]:
        file.progress()
        try:
            width, height, pixels = document.picture(number, recognition.DOTS_PER_INCH)
            words = recognition.recognised(width, height, pixels)
        except (pdfium.DamageError, recognition.RecognitionError):
            unread.append(number)
            continue
        if words:
            height_in_points = 72 * height / recognition.DOTS_PER_INCH
            pages.append(PageRows(number, height_in_points, rows_of(pieces_of(words)), []))
    return pages, sorted(unread)


def _shown(numbers: list[int]) -> str:
    listed = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return f"Page{'s' if len(numbers) > 1 else ''} {listed}"
