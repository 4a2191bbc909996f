"""Reads OpenDocument texts (ODT) and presentations (ODP); changes as accepted, a section for each slide."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import XmlError
from qa_bot.documents.ingest.formats.document_title import stated_title
from qa_bot.documents.ingest.formats.office.names import child
from qa_bot.documents.ingest.formats.office.opendocument.flat import CONTENT, META, STYLES, Parts, read_parts
from qa_bot.documents.ingest.formats.office.opendocument.styles import OdfStyles
from qa_bot.documents.ingest.formats.office.opendocument.text import OdfBlocks
from qa_bot.documents.ingest.formats.office.package import UnreadableError
from qa_bot.documents.ingest.formats.office.properties import Properties, check_size, document_record
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item

FURNITURE = {"title", "date-time", "footer", "header", "page-number", "notes"}


def read_text(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; headers, footers and deleted text are left out."""
    yield from read_parts(file, lambda package: _read_text(file, package))


def read_slides(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; each slide is a page, its title a heading of level 2."""
    yield from read_parts(file, lambda package: _read_slides(file, package))


def _read_text(file: SourceFile, package: Parts) -> Iterator[Item]:
    root = _content(package)
    writer = MarkdownWriter()
    blocks = OdfBlocks(writer, OdfStyles((package.tree(STYLES), root)), has_bold_headings=True)
    body = child(root, "office:body", "office:text")
    for block in body if body is not None else ():
        blocks.add(block)
        check_size(file, writer)
    blocks.end()
    yield document_record(file, writer, odf_properties(package), blocks.title)


def _read_slides(file: SourceFile, package: Parts) -> Iterator[Item]:
    root = _content(package)
    styles = OdfStyles((package.tree(STYLES), root))
    writer = MarkdownWriter()
    body = child(root, "office:body", "office:presentation")
    pages = [page for page in body if page.tag == "draw:page"] if body is not None else []
    title = ""
    for number, page in enumerate(pages, 1):
        title = _slide(page, number, styles, writer) or title
        check_size(file, writer)
    properties = odf_properties(package)
    yield document_record(file, writer, properties, stated_title(properties.title, file.stem) or title)


def _slide(page: Element, number: int, styles: OdfStyles, writer: MarkdownWriter) -> str:
    """Writes a slide; returns the title of the presentation if this is its title slide."""
    content = MarkdownWriter()
    blocks = OdfBlocks(content, styles)
    titles = [shape for shape in page if shape.get("presentation:class") == "title"]
    heading = " ".join(blocks.blocks_text(titles[0]).split()) if titles else ""
    for shape in page:
        if shape.get("presentation:class") not in FURNITURE or shape in titles[1:]:
            blocks.add(shape)
    notes = child(page, "presentation:notes")
    texts = [shape for shape in notes if shape.get("presentation:class") == "notes"] if notes is not None else []
    blocks.flush()
    spoken = MarkdownWriter()
    blocks_of_notes = OdfBlocks(spoken, styles)
    for shape in texts:
        blocks_of_notes.add(shape)
    blocks_of_notes.flush()
    content.labelled("Notes:", spoken)
    if heading or len(content):
        writer.page(number)
        writer.heading(2, heading or f"Slide {number}")
        writer.raw(content.text)
    has_subtitle = any(shape.get("presentation:class") == "subtitle" for shape in page)
    return heading if number == 1 and (has_subtitle or not len(content)) else ""


def _content(package: Parts) -> Element:
    check_encryption(package)
    root = package.tree(CONTENT)
    if root is None:
        raise UnreadableError(f"Expected an OpenDocument file with {CONTENT}, but got none; save it anew.")
    return root


def check_encryption(package: Parts) -> None:
    """Raises UnreadableError if the file has a password."""
    manifest = package.tree("META-INF/manifest.xml")
    if manifest is not None and any(element.tag.endswith("encryption-data") for element in manifest.iter()):
        raise UnreadableError("Expected a file without a password, but got an encrypted one; save it without.")


def odf_properties(package: Parts) -> Properties:
    """What the file says of itself; broken metadata count as missing."""
    try:
        meta = child(package.tree(META), "office:meta")
    except XmlError:
        meta = None
    texts: dict[str, str] = {}
    for element in meta if meta is not None else ():
        if element.text:
            texts[element.tag] = ", ".join(filter(None, [texts.get(element.tag, ""), element.text]))
    return Properties.of(
        title=texts.get("dc:title", ""),
        date=texts.get("dc:date", "") or texts.get("meta:creation-date", ""),
        language=texts.get("dc:language", ""),
        keywords=texts.get("meta:keyword", ""),
    )
