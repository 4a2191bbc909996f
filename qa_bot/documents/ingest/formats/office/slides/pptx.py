"""Reads presentations (PPTX, PPTM): a section for each slide, with its tables, charts, diagrams and notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.office.names import child
from qa_bot.documents.ingest.formats.office.package import Link, Package, read_package
from qa_bot.documents.ingest.formats.office.properties import check_size, core_properties, document_record
from qa_bot.documents.ingest.formats.office.slides.reading_order import in_reading_order
from qa_bot.documents.ingest.formats.office.slides.shapes import (
    Shapes,
    heading_text,
    placeholder_of,
    shape_text,
)
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item

TITLES = {"title", "ctrTitle"}


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; each slide is a page, its title a heading of level 2."""
    yield from read_package(file, lambda package: _read(file, package))


def _read(file: SourceFile, package: Package) -> Iterator[Item]:
    part = package.main_part("ppt/presentation.xml")
    writer = MarkdownWriter()
    title = ""
    for number, name in enumerate(_slides(package, part), 1):
        slide = package.tree(name)
        if slide is not None:
            title = _slide(package, name, slide, number, writer) or title
            check_size(file, writer)
    yield document_record(file, writer, core_properties(package), title)


def _slides(package: Package, part: str) -> Iterator[str]:
    """The names of the slides in their order."""
    links = package.links(part)
    listed = child(package.tree(part), "p:sldIdLst")
    for element in listed if listed is not None else ():
        link = links.get(element.get("r:id", ""))
        if link is not None and not link.is_external:
            yield link.target


def _slide(package: Package, name: str, slide: Element, number: int, writer: MarkdownWriter) -> str:
    """Writes a slide; returns the title of the presentation if this is its first slide with one."""
    tree = child(slide, "p:cSld", "p:spTree")
    shapes = in_reading_order(tree if tree is not None else [])
    links = package.links(name)
    headings = [shape for shape in shapes if placeholder_of(shape) in TITLES and shape_text(shape)][:1]
    headings = headings or heading_text(shapes)
    content = MarkdownWriter()
    Shapes(package, links, content).add_all(shape for shape in shapes if shape not in headings)
    _notes(package, links, content)
    heading = shape_text(headings[0]) if headings else ""
    if heading or len(content):
        writer.page(number)
        is_hidden = slide.get("show") in {"0", "false"}
        writer.heading(2, f"{heading or f'Slide {number}'}{' (hidden slide)' if is_hidden else ''}")
        writer.raw(content.text)
    return heading if number == 1 and headings and placeholder_of(headings[0]) == "ctrTitle" else ""


def _notes(package: Package, links: dict[str, Link], writer: MarkdownWriter) -> None:
    name = next((link.target for link in links.values() if link.kind == "notesSlide"), "")
    tree = child(package.tree(name), "p:cSld", "p:spTree")
    bodies = [shape for shape in tree if placeholder_of(shape) == "body"] if tree is not None else []
    if any(shape_text(shape) for shape in bodies):
        notes = MarkdownWriter()
        Shapes(package, package.links(name), notes, has_bullets=False).add_all(bodies)
        writer.labelled("Notes:", notes)
