"""Elements that only their roles (ARIA) make headings, or switches that show the text below them."""

from __future__ import annotations

import html

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.structured.trees import HEADINGS, inner_html, replace_by

HEADING_ROLE = "[role=heading]"
SWITCH_ROLE = "[role=button][aria-expanded]:not([aria-haspopup])"
LONGEST = 200  # characters
DEFAULT_LEVEL = 2
"""Of a heading whose level is not stated."""
NAMES = ("id", "class", "aria-expanded", "aria-controls")
"""Attributes that stay."""
BLOCKS = "h1, h2, h3, h4, h5, h6, p, ul, ol, dl, table, pre, blockquote"


def write_roles(tree: LexborHTMLParser) -> None:
    """Replace elements with the role of a heading by headings, and those of switches by buttons."""
    body = tree.body
    if body is None:
        return
    for node in reversed(body.css(HEADING_ROLE)):  # inner ones first
        level = node.attributes.get("aria-level") or ""
        _replace(node, f"h{level if level in set('123456') else DEFAULT_LEVEL}")
    for node in reversed(body.css(SWITCH_ROLE)):
        if node.tag not in {"a", "summary"}:
            _replace(node, "button")


def _replace(node: LexborNode, tag: str) -> None:
    """Put an element with this tag in place of one with a line of text."""
    text = node.text().strip()
    if node.tag in {*HEADINGS, "button"} or not 0 < len(text) <= LONGEST or node.css_first(BLOCKS) is not None:
        return
    attributes = node.attributes
    stated = [f' {name}="{html.escape(value)}"' for name in NAMES if (value := attributes.get(name)) is not None]
    replace_by(node, f"<{tag}{''.join(stated)}>{inner_html(node)}</{tag}>")
