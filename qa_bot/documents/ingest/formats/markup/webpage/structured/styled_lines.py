"""Words that only a style makes bold become `b`, and so do short lines in letters larger than most of the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

STYLED = "[style*='font' i], font[size]"
_BLOCKS = "p div ul ol dl table pre blockquote section article details form h1 h2 h3 h4 h5 h6"
BLOCKS = frozenset(_BLOCKS.split())
LINES = "p, div, td, th"
"""They are bold as a whole; a large line is one of the first two."""
INLINE = "span[style*='font' i], font"
BOLD = re.compile(r"(?<![\w-])font(?:-weight)?\s*:[^;]*?(?<![\w-])(?:bold(?:er)?|[6-9]00)(?![\w-])", re.IGNORECASE)
NORMAL = re.compile(r"(?<![\w-])font-weight\s*:\s*(?:normal|lighter|[1-5]00)(?!\d)", re.IGNORECASE)
SIZE = re.compile(
    r"(?<![\w-])font-size\s*:\s*(?:(\d{1,3}(?:\.\d{1,4})?)\s*(px|pt|r?em|%)|((?:xx?-)?(?:small|large)|medium))",
    re.IGNORECASE,
)
FONT_SIZE = re.compile(r"\s*([+-]?)([1-7])\s*")
NAMED = {"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32}
NUMBERED = (9, 10, 13, 16, 18, 24, 32, 48)
"""Pixels of the sizes of `font`, which are 1 to 7."""
USUAL, USUAL_NUMBER = 16.0, 3
LARGE = 1.15
"""Times the size of most letters of the page."""
LONGEST = 100  # characters
TEXT_ENDS = ".,;!"


class _Look(NamedTuple):
    size: float = USUAL
    is_bold: bool = False


def write_styles(root: LexborNode) -> None:
    """Put words that are bold by a style, and lines that are large, into `b`; unwrap those that a style makes plain."""
    if root.css_first(STYLED) is None:
        return
    for node in root.css("b[style], strong[style]"):
        if NORMAL.search(_style(node)):
            node.unwrap()
    looks = _looks(root)
    sizes, weights = Counter[float](), Counter[bool]()
    for node in root.traverse(include_text=True):
        if node.tag == "-text":
            size, is_bold = looks[node.mem_id]
            length = len((node.text_content or "").strip())
            sizes[size] += length
            weights[is_bold] += length
    large = LARGE * sizes.most_common(1)[0][0] if sizes else USUAL
    if weights[True] > weights[False]:  # it marks nothing
        looks = {number: look._replace(is_bold=False) for number, look in looks.items()}
    emphasised = [node for node in root.css(LINES) if _is_emphasised_line(node, looks, large)]
    inner = {node.mem_id for line in emphasised for node in line.css(INLINE)}
    spans = [node for node in root.css(INLINE) if node.mem_id not in inner]
    for node in [*emphasised, *(span for span in spans if _is_emphasised(span, looks, large))]:
        _make_bold(node)


def _looks(root: LexborNode) -> dict[int, _Look]:
    """The size and the weight of each element and text, as styles and those around it state them."""
    looks: dict[int, _Look] = {}
    for node in root.traverse(include_text=True):
        above = looks.get(node.parent.mem_id, _Look()) if node.parent is not None else _Look()
        looks[node.mem_id] = above if node.tag == "-text" else _look(node, above)
    return looks


def _look(node: LexborNode, above: _Look) -> _Look:
    style = _style(node)
    size, is_bold = above
    if node.tag == "font" and (match := FONT_SIZE.fullmatch(node.attributes.get("size") or "")):
        number = int(f"{match[1]}{match[2]}") + (USUAL_NUMBER if match[1] else 0)
        size = float(NUMBERED[min(max(number, 1), len(NUMBERED) - 1)])
    if match := SIZE.search(style):
        units = {"px": 1.0, "pt": 4 / 3, "em": above.size, "rem": USUAL, "%": above.size / 100}
        size = float(match[1]) * units[match[2].lower()] if match[1] else float(NAMED[match[3].lower()])
    if BOLD.search(style):
        is_bold = True
    elif NORMAL.search(style):
        is_bold = False
    return _Look(size, is_bold)


def _style(node: LexborNode) -> str:
    return node.attributes.get("style") or ""


def _is_emphasised_line(node: LexborNode, looks: dict[int, _Look], large: float) -> bool:
    """Whether all words of a block without others in it are bold by a style, or are a short large line."""
    if any(inner.tag in BLOCKS and inner.mem_id != node.mem_id for inner in node.traverse()):
        return False
    words = [*_words(node)]
    if not words or ((bold := node.css_first("b, strong")) is not None and bold.text().strip() == node.text().strip()):
        return False
    is_large = node.tag in {"p", "div"} and _is_short(node) and all(looks[text.mem_id].size >= large for text in words)
    return is_large or all(looks[text.mem_id].is_bold for text in words)


def _is_emphasised(span: LexborNode, looks: dict[int, _Look], large: float) -> bool:
    """Whether an inline element is bold by its style, or is a short large line between breaks."""
    words = [*_words(span)]
    if not words or any(inner.tag in BLOCKS for inner in span.traverse()):
        return False
    if BOLD.search(_style(span)) and all(looks[text.mem_id].is_bold for text in words):
        return True
    is_line = _ends_line(span.prev) and _ends_line(span.next) and _is_short(span)
    return is_line and (span.prev or span.next) is not None and looks[span.mem_id].size >= large


def _words(node: LexborNode) -> Iterator[LexborNode]:
    return (inner for inner in node.traverse(include_text=True) if inner.tag == "-text" and inner.text().strip())


def _is_short(node: LexborNode) -> bool:
    text = node.text().strip()
    return 0 < len(text) <= LONGEST and text[-1] not in TEXT_ENDS and node.css_first("br, img") is None


def _ends_line(beside: LexborNode | None) -> bool:
    if beside is not None and beside.tag == "-text" and not beside.text().strip():
        beside = None
    return beside is None or beside.tag == "br"


def _make_bold(node: LexborNode) -> None:
    bold = node.parser.create_node("b")
    for child in [*node.iter(include_text=True)]:
        bold.insert_child(child)
        child.decompose()
    node.insert_child(bold)
