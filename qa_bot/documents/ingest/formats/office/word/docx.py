"""Reads Word documents (DOCX, DOCM): headings, lists, steps, tables, text boxes, notes; changes as accepted."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.office.package import Link, Package, read_package
from qa_bot.documents.ingest.formats.office.properties import check_size, core_properties, document_record
from qa_bot.documents.ingest.formats.office.word.blocks import Blocks
from qa_bot.documents.ingest.formats.office.word.styles import Numbering, read_styles
from qa_bot.documents.ingest.formats.office.word.text import Notes
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; headers, footers and deleted text are left out."""
    yield from read_package(file, lambda package: _read(file, package))


def _read(file: SourceFile, package: Package) -> Iterator[Item]:
    part = package.main_part("word/document.xml")
    links = package.links(part)
    writer, notes = MarkdownWriter(), Notes()
    styles = read_styles(_linked(package, links, "styles"))
    root = _linked(package, links, "comments")
    comments = {comment.get("w:id", ""): comment for comment in (root if root is not None else ())}
    numbering = Numbering(_linked(package, links, "numbering"))
    blocks = Blocks(writer, styles, numbering, links, notes, package, comments)
    for block in package.children(part, "body"):
        blocks.add(block)
        check_size(file, writer)
    blocks.end()
    _add_notes(package, links, blocks)
    yield document_record(file, writer, core_properties(package), blocks.title)


def _linked(package: Package, links: dict[str, Link], kind: str) -> Element | None:
    name = next((link.target for link in links.values() if link.kind == kind), "")
    return package.tree(name)


def _add_notes(package: Package, links: dict[str, Link], blocks: Blocks) -> None:
    """The notes that the text refers to, at its end."""
    texts: dict[tuple[str, str], Element] = {}
    for kind in ("footnote", "endnote"):
        root = _linked(package, links, f"{kind}s")
        for note in root if root is not None else ():
            texts[kind, note.get("w:id", "")] = note
    numbered = [(number, texts[key]) for key, number in blocks.notes.marks.items() if key in texts]
    if numbered:
        blocks.add_notes(numbered)
