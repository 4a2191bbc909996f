"""Parts of the tree of a page, replaced by others."""

from __future__ import annotations

from collections.abc import Callable

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


def levels_below(root: LexborNode, is_headed: Callable[[LexborNode], bool]) -> list[tuple[LexborNode, int]]:
    """The elements for which that is true, each with the level of a heading one below the last heading before it."""
    level, levels = 1, list[tuple[LexborNode, int]]()
    for node in root.traverse():
        if node.tag in HEADINGS:
            level = int(node.tag[1])
        elif is_headed(node):
            levels.append((node, min(level + 1, len(HEADINGS))))
    return levels
