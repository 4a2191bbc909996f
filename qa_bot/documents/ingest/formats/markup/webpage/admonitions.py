"""Turns the title of a note, tip or warning into a bold label before its text: it is no heading of the page."""

from __future__ import annotations

import html
import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

LONGEST_TITLE = 80  # characters
BOXES = "div[class], aside[class], section[class]"
BOX_CLASS = re.compile(
    r"(?:[\w-]*-)?admonition(?:block)?|markdown-alert|confluence-information-macro|note|tip|hint|important|warning|caution|danger|attention|seealso",
    re.IGNORECASE,
)
TITLES = ".title, .admonition-title, .markdown-alert-title, [class*=admonitionHeading], th, h1, h2, h3, h4, h5, h6"
ICON_CELLS = "td[rowspan], td.icon"
"""Cells beside the text in the tables of DocBook and Asciidoctor."""

INLINE = {"-text", "a", "abbr", "b", "code", "em", "i", "kbd", "samp", "small", "span", "strong", "tt", "var"}
WITH_LABEL = {"p", "div", "td", "aside", "section"}
LISTS = {"ul", "ol"}


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
        if first.parent.tag in WITH_LABEL and not _is_in_item(first, box):
            _insert_before(first, label)
            return
        first = first.parent
    if box.child is not None:  # the text begins with a list, a table or code
        _insert_before(box.child, f"<p>{label}</p>")


def notes_into_items(root: LexborNode) -> None:
    """Put each note between two lists that are one into the item above it, and the items below it into the first list.

    Lists with numbers are one if the second goes on where the first ends.
    """
    for note in root.css("aside"):
        above, below = _neighbour(note, is_next=False), _neighbour(note, is_next=True)
        if above is None or below is None or above.tag not in LISTS or below.tag != above.tag:
            continue
        item = above.last_child
        while item is not None and item.tag != "li":
            item = item.prev
        if item is None or item.last_child is None or (above.tag == "ol" and not _goes_on(above, below)):
            continue
        item.last_child.insert_after(note)
        note.decompose()
        for follower in list(below.iter()):
            item.insert_after(follower)
            item = item.next or item
        below.decompose()


def _goes_on(above: LexborNode, below: LexborNode) -> bool:
    first, second = (node.attributes.get("start") or "1" for node in (above, below))
    count = sum(child.tag == "li" for child in above.iter())
    return first.isdecimal() and second.isdecimal() and int(second) == int(first) + count


def _neighbour(node: LexborNode, *, is_next: bool) -> LexborNode | None:
    """The element beside it; None if there is text between them, or none."""
    beside = node.next if is_next else node.prev
    while beside is not None and (beside.tag == "-comment" or (beside.tag == "-text" and not beside.text().strip())):
        beside = beside.next if is_next else beside.prev
    return beside


def _is_in_item(node: LexborNode, box: LexborNode) -> bool:
    """Whether a node is in an item of a list in the box."""
    above = node.parent
    while above is not None and above.mem_id != box.mem_id:
        if above.tag == "li":
            return True
        above = above.parent
    return False


def _first_text(box: LexborNode) -> LexborNode | None:
    return next((node for node in box.traverse(include_text=True) if node.tag == "-text" and node.text().strip()), None)


def _insert_before(node: LexborNode, fragment: str) -> None:
    body = LexborHTMLParser(fragment).body
    for part in body.iter(include_text=True) if body is not None else ():
        node.insert_before(part)
