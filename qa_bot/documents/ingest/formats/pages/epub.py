"""E-books: the chapters of an EPUB file in their order, one document a file."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.decoding import encoding_of
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import XmlError, parse_tree
from qa_bot.documents.ingest.formats.markup.html import anchors, fragment, plain
from qa_bot.documents.ingest.formats.markup.webpage.metadata import declared_language
from qa_bot.documents.ingest.formats.office.package import Package, UnreadableError, read_package
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Methods that only make fonts unreadable; the text is plain."""
PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml"}
FEWEST_LINKS, LINKED_SHARE = 3, 0.6
"""Chapters that a table of contents leads to, and its text in links."""
DOCTYPE = re.compile(rb"<!DOCTYPE[^\[\]<>]*>")  # NCX files have one; one with entities stays, and is refused
NO_PACKAGE = "Expected an e-book with a package document, but got none; save it anew."


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the manifest."""

    name: str
    media_type: str
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Book:
    """The package document: metadata, and the chapters in order."""

    title: str
    language: str
    date: str
    chapters: list[_Entry]
    contents: list[_Entry]  # navigation documents and NCX files


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id, a heading for each chapter."""
    yield from read_package(file, lambda package: _items(file, package))


def _items(file: SourceFile, package: Package) -> Iterator[Item]:
    if _is_protected(package):
        yield Reject(
            file.where, "Expected an e-book without copy protection, but got one with (DRM); add another copy."
        )
        return
    book = _book(package)
    titles = _chapter_titles(package, book)
    writer = MarkdownWriter()
    for chapter in book.chapters:
        try:
            page = _page(package, chapter)
            if not _is_contents(page, chapter.name, {entry.name for entry in book.chapters}):
                _write_chapter(page, titles.get(chapter.name, ""), writer)
        except UnreadableError as error:
            yield Notice(f"{file.where}!{chapter.name}", f"{error} The other chapters are kept.")
        if len(writer) > file.limits.record_bytes:
            raise LimitError(over_record_limit(file.limits))
    text = file.repairs.clean(writer.text)
    if not text:
        yield Reject(
            file.where, "Expected an e-book with text, but got none (pages as images?); recognise its text first."
        )
        return
    yield Record(
        file.name,
        file.repairs.clean(book.title) or file.stem,
        text,
        where=f"{file.where}:1",
        markdown=True,
        date=book.date,
        language=book.language,
    )


def _is_protected(package: Package) -> bool:
    if "META-INF/rights.xml" in package.names:
        return True
    methods = [element.get("Algorithm", "") for element in _elements(package, ENCRYPTION, "EncryptionMethod")]
    return any(not method.startswith(FONT_METHODS) for method in methods)


def _elements(package: Package, name: str, *tags: str) -> list[Element]:
    """Elements of a part with these local names, in order; none if there is no such part."""
    if name not in package.names:
        return []
    with package.open(name) as stream:
        data = DOCTYPE.sub(b"", stream.read(), count=1)
    return [element for element in parse_tree(io.BytesIO(data)).iter() if _local(element) in tags]


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _book(package: Package) -> _Book:
    """Raises UnreadableError without a package document."""
    paths = [element.get("full-path", "") for element in _elements(package, CONTAINER, "rootfile")]
    paths += sorted(name for name in package.names if name.endswith(".opf"))
    path = next((path for path in paths if path in package.names), "")
    if not path:
        raise UnreadableError(NO_PACKAGE)
    elements = _elements(package, path, "title", "language", "date", "meta", "item", "itemref")
    folder = posixpath.dirname(path)
    manifest = {
        element.get("id", ""): _Entry(
            _target(folder, element.get("href", "")),
            element.get("media-type", ""),
            frozenset(element.get("properties", "").split()),
        )
        for element in elements
        if _local(element) == "item"
    }
    spine = [manifest.get(element.get("idref", "")) for element in elements if _local(element) == "itemref"]
    chapters = [entry for entry in spine if entry and entry.media_type in PAGES and "nav" not in entry.properties]
    contents = [entry for entry in manifest.values() if "nav" in entry.properties or entry.name.endswith(".ncx")]
    modified = [element.text for element in elements if element.get("property") == "dcterms:modified"]
    dates = [*modified, *(element.text for element in elements if _local(element) == "date")]
    return _Book(
        title=" ".join(_text(elements, "title").split()),
        language=declared_language(_text(elements, "language")),
        date=next(filter(None, map(iso_date, dates)), ""),
        chapters=chapters,
        contents=contents,
    )


def _text(elements: list[Element], tag: str) -> str:
    return next((element.text for element in elements if _local(element) == tag and element.text), "") or ""


def _target(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, unquote(urldefrag(address)[0]))).lstrip("/")


def _chapter_titles(package: Package, book: _Book) -> dict[str, str]:
    """Name of a chapter's file → its title in the table of contents."""
    titles: dict[str, str] = {}
    for entry in book.contents:
        folder = posixpath.dirname(entry.name)
        try:
            elements = _elements(package, entry.name, "a", "navPoint")
        except XmlError:
            continue
        for element in elements:
            address, title = element.get("href", ""), " ".join("".join(element.itertext()).split())
            if _local(element) == "navPoint":
                content = next((part for part in element if _local(part) == "content"), None)
                address = content.get("src", "") if content is not None else ""
                label = next((part for part in element if _local(part) == "navLabel"), None)
                title = " ".join("".join(label.itertext()).split()) if label is not None else ""
            titles.setdefault(_target(folder, address), title)
    return titles


def _page(package: Package, chapter: _Entry) -> str:
    if chapter.name not in package.names:
        raise UnreadableError(f"Expected an e-book with {chapter.name}, but got none; save it anew.")
    with package.open(chapter.name) as stream:
        data = stream.read()
    return data.decode(encoding_of(data), "replace")


def _is_contents(page: str, name: str, chapters: set[str]) -> bool:
    """Whether a page is a table of contents: for the most part links to several chapters."""
    if page.count("href") < FEWEST_LINKS:
        return False
    folder, others = posixpath.dirname(name), chapters - {name}
    links = [(target, label) for label, address in anchors(page) if (target := _target(folder, address)) in others]
    linked, whole = ("".join(text.split()) for text in ("".join(label for _, label in links), plain(page)))
    return len({target for target, _ in links}) >= FEWEST_LINKS and len(linked) > LINKED_SHARE * len(whole)


def _write_chapter(page: str, title: str, writer: MarkdownWriter) -> None:
    text = fragment(page)
    if text.text and not text.headings and title:
        writer.heading(1, title)
    writer.raw(text.text)
