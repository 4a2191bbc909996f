"""DocBook (4 and 5), one document a file. No other file is read: neither those that it includes nor its DTD."""

from __future__ import annotations

import io
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import parse_begun
from qa_bot.documents.ingest.formats.markup.docbook.blocks import Blocks
from qa_bot.documents.ingest.formats.markup.docbook.elements import attribute, children, infos, title_of, words
from qa_bot.documents.ingest.formats.markup.docbook.entities import without_entities
from qa_bot.documents.ingest.formats.markup.html import fragment, one_document, without_title
from qa_bot.documents.ingest.formats.markup.webpage.metadata import declared_language
from qa_bot.documents.ingest.records import Item, Reject

AROUND = (
    '<docbook xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xi="http://www.w3.org/2001/XInclude">',
    "</docbook>",
)
"""Around the document: a part of a book may be several elements, without the names of its book."""
NO_TEXT = (
    "Expected DocBook with text, but got none; add the files that it includes, or name another format with --format."
)


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of the document, else the file's stem. Text before an XML error is kept."""
    source = without_entities(file.text())
    root, error = parse_begun(io.BytesIO(source.join(AROUND).encode()))
    has_text = root is not None and bool(words(root))
    if root is not None and (error is None or has_text):
        yield _document(file, root)
    if error is not None:
        remark = " The text before this line is kept." if has_text else ""
        yield Reject(f"{file.where}:{error.line}", f"{error}{remark}")


def _document(file: SourceFile, root: Element) -> Item:
    parts = list(root)
    whole = parts[0] if len(parts) == 1 else None
    named = title_of(whole) if whole is not None else None
    title = words(named) if named is not None else ""
    text = fragment(Blocks(root).html(root)).text
    return one_document(
        file,
        title,
        "" if text == f"# {title}" else without_title(text, title),
        reject=NO_TEXT,
        date=_date(whole) if whole is not None else "",
        language=declared_language(attribute(whole, "lang")) if whole is not None else "",
    )


def _date(element: Element) -> str:
    """The date that a document states, else that of its last revision."""
    about = list(infos(element))
    stated = [words(date) for info in about for name in ("pubdate", "date") for date in children(info, name)]
    revisions = [
        iso_date(words(date))
        for info in about
        for history in children(info, "revhistory")
        for revision in children(history, "revision")
        for date in children(revision, "date")
    ]
    return next(filter(None, map(iso_date, stated)), max(revisions, default=""))
