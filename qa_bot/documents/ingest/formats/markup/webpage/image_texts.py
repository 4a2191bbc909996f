"""Alternative texts of images: which say something that the text around the image does not."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

MOST_AROUND = 4
"""Levels between an image and its figure, or the text beside it."""
MOST_INSIDE = 8
"""Levels between an element beside an image and its first or last text."""
FILE_NAME = re.compile(r"[\w./%-]+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)", re.IGNORECASE)
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
BLOCKS = HEADINGS | {"p", "div", "section", "article", "figure", "figcaption", "center", "blockquote"}
BORDERS = frozenset({"td", "th", "li", "dd", "dt", "body", "main", "table", "ul", "ol"})
"""Elements beyond which no label is looked for: an image may be all that a cell has."""
WORD = re.compile(r"\w+")


def image_text(image: LexborNode) -> str:
    """The alternative text of an image; "" if it is a file's name, or the caption or the text beside it repeats it."""
    text = (image.attributes.get("alt") or "").strip()
    if not text or FILE_NAME.fullmatch(text) or _is_caption(image, text) or _is_label(image, text):
        return ""
    return text


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
        while beside is not None and beside.tag != "img" and not _outer_text(beside, forward=forward):
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
    for _ in range(MOST_AROUND):
        if around is None or _is_figure(around):
            break
        around = around.parent
    if around is None:
        return False
    repeated = text.casefold().split()
    caption = around.css_first("figcaption" if around.tag == "figure" else ".title") if _is_figure(around) else None
    words = caption.text().casefold().split() if caption is not None else []
    return bool(words) and (words == repeated or (around.tag != "figure" and words[-len(repeated) :] == repeated))


def _is_figure(node: LexborNode) -> bool:
    return node.tag == "figure" or "figure" in (node.attributes.get("class") or "").split()
