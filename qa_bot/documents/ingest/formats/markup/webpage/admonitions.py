"""Turns the title of a note, tip or warning into a bold label before its text: it is no heading of the page."""

from __future__ import annotations

import html
import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

LONGEST_TITLE = 80  # characters
BOXES = "div[class], aside[class], section[class]"
BOX_CLASS = re.compile(
    r"(?:[\w-]*-)?admonition(?:block)?|markdown-alert|note|tip|hint|important|warning|caution|danger|attention|seealso",
    re.IGNORECASE,
)
TITLES = ".title, .admonition-title, .markdown-alert-title, [class*=admonitionHeading], th, h1, h2, h3, h4, h5, h6"
ICON_CELLS = "td[rowspan], td.icon"
"""Cells beside the text in the tables of DocBook and Asciidoctor."""

INLINE = {"-text", "a", "abbr", "b", "code", "em", "i", "kbd", "samp", "small", "span", "strong", "tt", "var"}
WITH_LABEL = {"p", "div", "td", "aside", "section"}


def label_admonitions(root: LexborNode) -> None:
    """Replace the titles of all notes below the element by labels; a note without a title is left unchanged."""
    for box in root.css(BOXES):
        names = (box.attributes.get("class") or "").split()
        if any(BOX_CLASS.fullmatch(name) for name in names) and (title := _title(box)) is not None:
            _label(box, title)


def _title(box: LexborNode) -> LexborNode | None:
    """The element with the first words of the box, if it is a title."""
    begin = "".join(box.text().split())
    for node in box.css(TITLES):
        text = node.text().strip()
        if 0 < len(text) <= LONGEST_TITLE and begin.startswith("".join(text.split())):
            return node
    return None


def _label(box: LexborNode, title: LexborNode) -> None:
    text = title.text()
    title.decompose()
    for cell in box.css(ICON_CELLS):
        cell.decompose()
    begin_with_label(box, text)


def begin_with_label(box: LexborNode, text: str) -> None:
    """Write a label in bold type in front of the first text in the element, or above what has none."""
    text = " ".join(text.split()).rstrip("¶#: ")
    if not text:
        return
    label = f"<b>{html.escape(text)}{'' if text[-1:] in set('.!?') else ':'}</b> "
    first = _first_text(box)
    while first is not None and first.parent is not None and first.tag in INLINE:
        if first.parent.tag in WITH_LABEL:
            _insert_before(first, label)
            return
        first = first.parent
    if box.child is not None:  # the text begins with a list, a table or code
        _insert_before(box.child, f"<p>{label}</p>")


def _first_text(box: LexborNode) -> LexborNode | None:
    return next((node for node in box.traverse(include_text=True) if node.tag == "-text" and node.text().strip()), None)


def _insert_before(node: LexborNode, fragment: str) -> None:
    body = LexborHTMLParser(fragment).body
    for part in body.iter(include_text=True) if body is not None else ():
        node.insert_before(part)
