"""Parts of the tree of a page, replaced by others."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

HEADINGS = tuple(f"h{level}" for level in range(1, 7))


def inner_html(node: LexborNode) -> str:
    """What is in an element, as HTML."""
    return "".join(child.html or "" for child in node.iter(include_text=True))


def replace_by(node: LexborNode, html: str) -> None:
    """Replace an element by a fragment."""
    body = LexborHTMLParser(html).body
    for part in body.iter(include_text=True) if body is not None else ():
        node.insert_before(part)
    node.decompose()
