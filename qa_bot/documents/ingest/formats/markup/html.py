"""The title and main text of HTML pages, and fragments as plain text. The only file that imports selectolax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import Item, Record, Reject

UNREAD = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head", "math"]
FURNITURE = (
    "nav, aside, footer, form, button, select, dialog, [hidden], [aria-hidden=true], [role=navigation], "
    "[role=banner], [role=contentinfo], [role=complementary], [role=search], body > header"
)
PARAGRAPHS = "p, h1, h2, h3, h4, h5, h6, blockquote, table, ul, ol, dl, section, article"
LINES = "hr, div, li, tr, dt, dd, address, details, summary, figure, figcaption, header, main, fieldset"
# Placeholders for breaks while white space is folded: Unicode noncharacters, which never occur in text.
LINE, PARAGRAPH, BREAK, SPACE = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
KEPT_SPACE = {ord("\n"): BREAK, ord(" "): SPACE, ord("\t"): SPACE * 4}
KEPT_BACK = {ord(BREAK): "\n", ord(SPACE): " "}
GAP = re.compile(rf" ?[{LINE}{PARAGRAPH}][ {LINE}{PARAGRAPH}]*")
LINK_LIST = 0.6  # a list with a larger share of its text in links is a menu
MAIN_SHARE = 0.3  # <main> or <article> replaces the page if it holds this share of its text


def read(file: SourceFile) -> Iterator[Item]:
    """One record: the page's title and main text, without scripts, menus and footers; the id is the path."""
    title, text = page(file.text())
    if not text:
        yield Reject(f"{file.where}:1", "Expected a page with text, but got none (a page made by scripts?); save it.")
    else:
        yield Record(file.name, title or PurePosixPath(file.name).stem, text, where=f"{file.where}:1")


def page(html: str) -> tuple[str, str]:
    """Title and main text of a page."""
    tree = LexborHTMLParser(html)
    heading = tree.css_first("title") or tree.css_first("h1")
    title = " ".join(heading.text().split()) if heading else ""
    tree.strip_tags(UNREAD)
    if tree.body is None:
        return title, ""
    whole = len(tree.body.text())
    for node in tree.css(FURNITURE):
        node.decompose()
    for node in tree.css("ul, ol"):
        if _is_menu(node):
            node.decompose()
    return title, _text(_main(tree.body, whole))


def plain(html: str) -> str:
    """The text of a fragment, one line a block."""
    if "<" not in html and "&" not in html:
        return html.strip()
    tree = LexborHTMLParser(html)
    tree.strip_tags(UNREAD)
    return _text(tree.body) if tree.body is not None else ""


def _main(body: LexborNode, whole: int) -> LexborNode:
    for selector in ("main, [role=main]", "article"):
        nodes = body.css(selector)
        if len(nodes) == 1 and len(nodes[0].text()) >= MAIN_SHARE * whole:
            return nodes[0]
    return body


def _is_menu(node: LexborNode) -> bool:
    links = node.css("a")
    return len(links) >= 3 and sum(len(link.text()) for link in links) > LINK_LIST * len(node.text().strip())


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
