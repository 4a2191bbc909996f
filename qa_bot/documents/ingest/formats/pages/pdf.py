"""Reads PDF files, one document a file. The only file that imports pypdf."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO

from pypdf import PdfReader

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.records import Item, Record, Reject

TITLE_CHARACTERS = 150
HYPHEN_BREAK = re.compile(r"(?<=\w)-\n(?=[a-z])")
WRAPPED_LINE = re.compile(r"(?<=[^\n]{30}[\w,;])\n(?=[a-z(])")

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs every repaired object; rejects are enough


class _UnreadableError(Exception):
    pass


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id: its title from the metadata, else its first line."""
    with file.file() as stream:
        try:
            title, text = document(stream, limit=file.limits.record_bytes)
        except _UnreadableError as error:
            yield Reject(file.where, str(error))
        except LimitError:
            yield Reject(file.where, over_record_limit(file.limits))
        else:
            title = file.repairs.clean(title) or PurePosixPath(file.name).stem
            yield Record(file.name, title, file.repairs.clean(text), where=f"{file.where}:1")


def document(file: IO[bytes], *, limit: int) -> tuple[str, str]:
    """Title, or "" if there is none, and text with an empty line between pages."""
    try:
        reader = PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            raise _UnreadableError("Expected a readable PDF, but got one with a password; save it without.")
        title = str((reader.metadata and reader.metadata.title) or "").strip()
        text = _text(reader, limit)
    except (_UnreadableError, LimitError):
        raise
    except Exception as error:  # hostile input: pypdf raises nearly everything on a broken file
        raise _UnreadableError(f"Expected a readable PDF, but got a broken one ({error}); save it anew.") from error
    if not text:
        raise _UnreadableError("Expected a PDF with text, but got none (a scan?); run text recognition on it first.")
    first = text.partition("\n")[0].strip()
    return title or (first if len(first) <= TITLE_CHARACTERS else ""), text


def _text(reader: PdfReader, limit: int) -> str:
    pages: list[str] = []
    size = 0
    for page in reader.pages:
        pages.append(_flowing(page.extract_text()))
        size += len(pages[-1])
        if size > limit:
            raise LimitError
    return "\n\n".join(page for page in pages if page)


def _flowing(text: str) -> str:
    """A page's text with the hyphens and breaks of wrapped lines undone."""
    return WRAPPED_LINE.sub(" ", HYPHEN_BREAK.sub("", text)).strip()
