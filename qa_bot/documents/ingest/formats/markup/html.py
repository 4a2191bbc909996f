"""HTML pages and fragments: their main text as Markdown, or as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.webpage.admonitions import label_admonitions, notes_into_items
from qa_bot.documents.ingest.formats.markup.webpage.blocks import BlockWriter, cell_text
from qa_bot.documents.ingest.formats.markup.webpage.furniture import UNREAD, as_html, bounded, main_element
from qa_bot.documents.ingest.formats.markup.webpage.lists import divide_values, mark_tasks
from qa_bot.documents.ingest.formats.markup.webpage.mathml import write_formulas
from qa_bot.documents.ingest.formats.markup.webpage.metadata import PageMetadata, page_metadata
from qa_bot.documents.ingest.formats.markup.webpage.note_marks import NoteMarks, label_notes
from qa_bot.documents.ingest.formats.markup.webpage.programs.google_docs import with_elements
from qa_bot.documents.ingest.formats.markup.webpage.programs.word_pages import with_titles
from qa_bot.documents.ingest.formats.markup.webpage.structured.definition_tables import list_definitions
from qa_bot.documents.ingest.formats.markup.webpage.structured.linked_data import Section, sections_of, unsaid
from qa_bot.documents.ingest.formats.markup.webpage.structured.question_tables import head_by_questions
from qa_bot.documents.ingest.formats.markup.webpage.structured.roles import write_roles
from qa_bot.documents.ingest.formats.markup.webpage.structured.side_by_side import join_columns
from qa_bot.documents.ingest.formats.markup.webpage.structured.styled_lines import write_styles
from qa_bot.documents.ingest.formats.markup.webpage.structured.typed_items import list_typed_items
from qa_bot.documents.ingest.formats.markup.webpage.tables import write_role_tables
from qa_bot.documents.ingest.formats.markup.webpage.tabs import label_tabs
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

PARAGRAPHS = "p, h1, h2, h3, h4, h5, h6, blockquote, table, ul, ol, dl, section, article"
LINES = "hr, div, li, tr, dt, dd, address, details, summary, figure, figcaption, header, main, fieldset"
# Placeholders for breaks while white space is folded: Unicode noncharacters, which never occur in text.
LINE, PARAGRAPH, BREAK, SPACE = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
KEPT_SPACE = {ord("\n"): BREAK, ord(" "): SPACE, ord("\t"): SPACE * 4}
KEPT_BACK = {ord(BREAK): "\n", ord(SPACE): " "}
GAP = re.compile(rf" ?[{LINE}{PARAGRAPH}][ {LINE}{PARAGRAPH}]*")


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """`markdown` is the main text without menus, footers and banners, and without its title's own heading."""

    markdown: str
    metadata: PageMetadata


def read(file: SourceFile) -> Iterator[Item]:
    """One record: the page's title and main text, without scripts, menus and footers; the id is the path."""
    yield page_record(file, file.text())


def page_record(file: SourceFile, html: str, *, url: str = "") -> Record | Reject:
    """The record of a file that is a page.

    Args:
        url: its address.
    """
    parsed = read_page(html)
    about = parsed.metadata
    return one_document(
        file,
        about.title,
        parsed.markdown,
        reject="Expected a page with text, but got none (a page made by scripts?); save it.",
        date=about.date,
        language=about.language,
        url=url,
    )


def one_document(
    file: SourceFile, title: str, text: str, *, reject: str, date: str = "", language: str = "", url: str = ""
) -> Record | Reject:
    """The record of a file that is one document in Markdown; without text, a reject with that reason.

    Without a title it is the file's stem.
    """
    text = file.repairs.clean(text)
    where = f"{file.where}:1"
    if not text:
        return Reject(where, reject)
    title = file.repairs.clean(title) or file.stem
    return Record(file.name, title, text, url=url, where=where, markdown=True, date=date, language=language)


def read_page(html: str, *, with_links: bool = False) -> HtmlPage:
    """A whole page as Markdown, with what it says of itself.

    Args:
        with_links: also collect the addresses of its links.
    """
    tree = LexborHTMLParser(bounded(as_html(with_titles(with_elements(html)))))
    write_roles(tree)
    metadata = page_metadata(tree, with_links=with_links)
    sections = sections_of(tree)
    body = main_element(tree)
    markdown = ""
    if body is not None:
        _move_labels(body)
        rest = [*unsaid(sections, body.text(), plain)]
        writer = BlockWriter().write(body)
        for section in rest:
            _write_section(writer, section)
        markdown = writer.text
    return HtmlPage(without_title(markdown, metadata.title), metadata)


def _write_section(writer: MarkdownWriter, section: Section) -> None:
    """A section of linked data, whose texts may be HTML."""
    writer.heading(2, section.heading)
    writer.end_list()
    for number, text in enumerate(section.parts, 1):
        if section.sign:
            writer.item(one_line(text), number=number if section.sign == "1." else None)
        else:
            fragment(text, writer)


def anchors(html: str, *, address: str = "") -> list[tuple[str, str]]:
    """Text and address of each link of a page, in order.

    Args:
        address: of the page, for relative links if it states no base.
    """
    tree = LexborHTMLParser(bounded(as_html(html)))
    metadata = page_metadata(tree)
    base = urljoin(metadata.canonical or address, metadata.base)
    links: list[tuple[str, str]] = []
    for node in tree.css("a[href]"):
        text = " ".join(node.text(separator=" ").split())
        try:
            target = urljoin(base, (node.attributes.get("href") or "").strip())
        except ValueError:  # brackets that hold no address of a host
            continue
        if text:
            links.append((text, target))
    return links


def page(html: str) -> tuple[str, str]:
    """Title and main text of a page as Markdown."""
    parsed = read_page(html)
    return parsed.metadata.title, parsed.markdown


def fragment(html: str, writer: MarkdownWriter | None = None, *, without: str = "") -> MarkdownWriter:
    """All blocks of a fragment as Markdown, nothing removed: parts of notebooks, e-mails, e-books, Markdown files.

    Args:
        without: selects elements that are left out after all.
    """
    body = LexborHTMLParser(bounded(as_html(html))).body
    writer = MarkdownWriter() if writer is None else writer
    if body is None:
        return writer
    for node in reversed(body.css(without) if without else []):  # inner ones first
        node.decompose()
    _move_labels(body)
    write_formulas(body)
    return BlockWriter(writer).write(body)


def one_line(html: str) -> str:
    """A fragment as the text of a cell: Markdown on one line."""
    body = LexborHTMLParser(bounded(html)).body
    return cell_text(body, 0, NoteMarks()) if body is not None else ""


def _move_labels(body: LexborNode) -> None:
    """Put the titles of notes, the labels of tabs, the numbers of footnotes and boxes in front of their texts.

    Values and cells that only a style divides are divided. Tables of questions become headings, those that explain
    terms lists, as do paragraphs with typed signs, and columns beside each other rows.
    """
    write_styles(body)
    mark_tasks(body)
    divide_values(body)
    write_role_tables(body)
    label_admonitions(body)
    notes_into_items(body)
    label_tabs(body)
    label_notes(body)
    head_by_questions(body)
    join_columns(body)
    list_definitions(body)
    list_typed_items(body)


def without_title(markdown: str, title: str) -> str:
    """The text without a first heading that is the title."""
    first, _, rest = markdown.partition("\n")
    return rest.lstrip("\n") if first == f"# {title}" and rest else markdown


def plain(html: str) -> str:
    """The text of a fragment, one line a block."""
    if "<" not in html and "&" not in html:
        return html.strip()
    tree = LexborHTMLParser(bounded(html))
    if tree.body is not None:
        write_formulas(tree.body)
    tree.strip_tags(UNREAD)
    return _text(tree.body) if tree.body is not None else ""


def _text(root: LexborNode) -> str:
    """Text with a line for each block, an empty line between paragraphs, white space as a browser shows it."""
    for node in root.css("pre"):
        node.replace_with(PARAGRAPH + node.text().translate(KEPT_SPACE) + PARAGRAPH)
    for node in root.css("br"):
        node.replace_with(BREAK)
    for selector, mark in ((PARAGRAPHS, PARAGRAPH), (LINES, LINE)):
        for node in root.css(selector):
            node.insert_before(mark)
            node.insert_after(mark)
    text = GAP.sub(_gap, " ".join(root.text().split()))
    text = text.replace(f" {BREAK}", BREAK).replace(f"{BREAK} ", BREAK).translate(KEPT_BACK)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _gap(match: re.Match[str]) -> str:
    return "\n\n" if PARAGRAPH in match[0] else "\n"
