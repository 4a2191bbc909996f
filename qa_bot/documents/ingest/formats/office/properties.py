"""What an office file says of itself: title, date of the last change, language, keywords, whether it is a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import XmlError
from qa_bot.documents.ingest.formats.document_title import first_title, sole_title, stated_title
from qa_bot.documents.ingest.formats.office.names import child
from qa_bot.documents.ingest.formats.office.package import Package
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?")
TEMPLATE_DATES = {"2013-12-23T23:15:00Z", "2013-01-27T09:15:58Z"}
"""Dates of the templates of python-docx and python-pptx, which their documents keep."""
LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Properties:
    """Properties of a document; "" where it does not declare one. `date` is ISO 8601, `language` ISO 639."""

    title: str = ""
    date: str = ""
    language: str = ""
    is_draft: bool = False
    tags: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, *, title: str = "", date: str = "", language: str = "", status: str = "", keywords: str = ""
    ) -> Properties:
        """Properties from the values of the file."""
        found_language = LANGUAGE.match(language.strip())
        tags = [" ".join(tag.split()) for tag in re.split(r"[,;]", keywords)]
        return cls(
            " ".join(title.split()),
            iso_date(date),
            found_language[0].lower() if found_language else "",
            status.strip().lower() in {"draft", "entwurf", "brouillon", "borrador"},
            tuple(dict.fromkeys(filter(None, tags))),
        )


def iso_date(text: str) -> str:
    """The date, or date and time, that a text begins with, in ISO 8601; "" if there is none."""
    match = DATE.match(text.strip())
    if match is None or match[0] in TEMPLATE_DATES:
        return ""
    try:
        datetime.fromisoformat(match[0])
    except ValueError:
        return ""
    return match[0]


def core_properties(package: Package) -> Properties:
    """The core properties of an Office Open XML file; broken ones count as missing."""
    names = [link.target for link in package.links("").values() if link.kind == "core-properties"]
    try:
        root = package.tree(names[0]) if names else None
    except XmlError:
        root = None
    if root is None:
        return Properties()
    return Properties.of(
        title=_text(root, "dc:title"),
        date=_text(root, "dcterms:modified") or _text(root, "dcterms:created"),
        language=_text(root, "dc:language"),
        status=_text(root, "cp:contentStatus"),
        keywords=_text(root, "cp:keywords"),
    )


def document_record(file: SourceFile, writer: MarkdownWriter, properties: Properties, title: str = "") -> Item:
    """The record of a whole file.

    Its title is `title`, else its only heading of level 1 if that begins the text, else that of its properties, else
    the first of several headings if it names the whole document, else the file's name.

    Raises LimitError if the text exceeds the record limit.
    """
    check_size(file, writer)
    text = writer.text
    if not text.strip():
        return Reject(file.where, "Expected a document with text, but got none (only pictures?); add text to it.")
    clean = file.repairs.clean
    title = title or sole_title(writer) or stated_title(properties.title, file.stem) or first_title(writer, file.stem)
    return Record(
        file.name,
        clean(title) or file.stem,
        clean(text),
        where=f"{file.where}:1",
        markdown=True,
        date=properties.date,
        language=properties.language,
        draft=properties.is_draft,
        tags=tuple(clean(tag) for tag in properties.tags),
        positions=tuple(writer.positions),
    )


def check_size(file: SourceFile, writer: MarkdownWriter) -> None:
    """Raises LimitError if the text so far exceeds the record limit."""
    if len(writer) > file.limits.record_bytes:
        raise LimitError(over_record_limit(file.limits))


def _text(root: Element, name: str) -> str:
    element = child(root, name)
    return element.text or "" if element is not None else ""
