"""Alternative texts of images: which say something that the text around the image does not."""

from __future__ import annotations

import re
from itertools import islice

from selectolax.lexbor import LexborNode

MOST_AROUND = 4
"""Levels between an image and the text beside it …"""
MOST_TO_FIGURE = 10
"""… and its figure or its block: DocBook puts a table, its row and its cell between them."""
MOST_BESIDE = 20
"""Empty elements between an image and the text beside it."""
MOST_INSIDE = 8
"""Levels between an element beside an image and its first or last text."""
MOST_WORDS = 8
"""Words of a label: what has more, or ends as a sentence does, tells what an image shows."""
MOST_READ = 60
"""Nodes in a block that are looked at."""
FILE_NAME = re.compile(r"[\w./%-]+[._](?:png|jpe?g|gif|svg|webp|bmp|tiff?)", re.IGNORECASE)
BADGE = re.compile(r"shields\.io/|badgen\.net/|[/._-]badges?(?:[/._?-]|$)", re.IGNORECASE)
"""The address of a picture that shows the state of a project."""
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
BLOCKS = HEADINGS | {"p", "div", "section", "article", "figure", "figcaption", "center", "blockquote"}
HOLDERS = HEADINGS | {"td", "th", "li", "dd", "dt"}
"""Elements of which an image may be all that they say."""
BORDERS = frozenset({"td", "th", "li", "dd", "dt", "body", "main", "table", "ul", "ol"})
"""Elements beyond which no label is looked for: an image may be all that a cell has."""
WORD = re.compile(r"\w+")
SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")


def image_text(image: LexborNode) -> str:
    """The alternative text of an image; "" if it says nothing to those who read the page's text.

    So do a badge, a file's name, what the caption or the text beside the image repeats, and the name of an image alone
    in its block ("Main window"): it would be read as a sentence of the page.
    """
    text = (image.attributes.get("alt") or "").strip()
    if (
        not text
        or BADGE.search(image.attributes.get("src") or "")
        or FILE_NAME.fullmatch(text)
        or _is_caption(image, text)
        or _is_label(image, text)
    ):
        return ""
    is_name = len(text.split()) <= MOST_WORDS and not text.endswith(SENTENCE_END)
    return "" if is_name and _is_alone(image) else text


def _is_alone(image: LexborNode) -> bool:
    """Whether the block around an image has no text, and neither its item or cell nor heading says only the image."""
    block = image.parent
    for _ in range(MOST_TO_FIGURE):
        if block is None or block.tag in BLOCKS | BORDERS:
            break
        block = block.parent
    if block is None or _has_text(block):
        return False
    while block is not None and not _has_text(block):
        if block.tag in HOLDERS and not _is_only_cell(block):
            return False
        block = block.parent
    return block is not None


def _has_text(node: LexborNode) -> bool:
    """Whether a node has text, or more in it than is looked at."""
    inside = list(islice(node.traverse(include_text=True), MOST_READ))
    return len(inside) == MOST_READ or any(one.tag == "-text" and (one.text_content or "").strip() for one in inside)


def _is_only_cell(cell: LexborNode) -> bool:
    """Whether a table only arranges what is in its single cell."""
    table = cell.parent
    for _ in range(2):
        table = table.parent if table is not None and table.tag != "table" else table
    return table is not None and table.tag == "table" and len(table.css("td, th")) == 1


def _is_label(image: LexborNode, text: str) -> bool:
    """Whether the text before or after an image is a label that says the same.

    In a paragraph the text begins or ends with it, another paragraph has nothing else.
    """
    words = WORD.findall(text.casefold())
    return bool(words) and any(_repeats(image, words, forward=forward) for forward in (True, False))


def _repeats(image: LexborNode, words: list[str], *, forward: bool) -> bool:
    node: LexborNode | None = image
    is_other_block = False
    for _ in range(MOST_AROUND):
        if node is None or node.tag in BORDERS:
            return False
        beside = node.next if forward else node.prev
        for _ in range(MOST_BESIDE):
            if beside is None or beside.tag == "img" or _outer_text(beside, forward=forward):
                break
            beside = beside.next if forward else beside.prev
        if beside is not None:
            if beside.tag == "img" or beside.tag in BORDERS:
                return False
            is_other_block = is_other_block or beside.tag in BLOCKS
            others = WORD.findall(_outer_text(beside, forward=forward).casefold())
            part = others[: len(words)] if forward else others[-len(words) :]
            return part == words and (len(others) == len(words) or not is_other_block)
        is_other_block = is_other_block or node.tag in BLOCKS
        node = node.parent
    return False


def _outer_text(node: LexborNode, *, forward: bool) -> str:
    """The first or last text in a node; "" if it is empty."""
    inner: LexborNode | None = node
    for _ in range(MOST_INSIDE):
        if inner is None or inner.tag == "-text":
            break
        inner = inner.child if forward else inner.last_child
    return (inner.text_content or "").strip() if inner is not None and inner.tag == "-text" else ""


def _is_caption(image: LexborNode, text: str) -> bool:
    """Whether the caption of the figure around an image says the same; DocBook's have a number in front."""
    around = image.parent
    for _ in range(MOST_TO_FIGURE):
        if around is None or _is_figure(around):
            break
        around = around.parent
    if around is None:
        return False
    repeated = text.casefold().split()
    caption = _caption(around) if _is_figure(around) else None
    words = caption.text().casefold().split() if caption is not None else []
    return bool(words) and (words == repeated or (around.tag != "figure" and words[-len(repeated) :] == repeated))


def _caption(figure: LexborNode) -> LexborNode | None:
    """The caption of a figure, among its first and last children: a figure may have thousands of images."""
    first, last = figure.child, figure.last_child
    for _ in range(MOST_BESIDE):
        for child in (first, last):
            classes = (child.attributes.get("class") or "").split() if child is not None else []
            if child is not None and (child.tag == "figcaption" if figure.tag == "figure" else "title" in classes):
                return child
        first, last = (first and first.next), (last and last.prev)
    return None


def _is_figure(node: LexborNode) -> bool:
    return node.tag == "figure" or "figure" in (node.attributes.get("class") or "").split()
