"""Tabs and other panels: labels of tabs are put in front of their contents, and panels are recognised.

A page has the labels of its tabs in one row above them.
"""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.admonitions import begin_with_label

ROWS = ".tabbed-labels, [role=tablist]"
LABELS = ".tabbed-labels > label, [role=tab]"
CONTENT_CLASS = "tabbed-block"
"""Material for MkDocs has classes, other generators the roles of ARIA."""
HEADINGS = "h1, h2, h3, h4, h5, h6"
PANEL_TAGS = frozenset(["div", "section", "article"])


def label_tabs(root: LexborNode) -> None:
    """Move the labels below the element to their contents; a row without one content for each is left unchanged."""
    for row in root.css(ROWS):
        labels = row.css(LABELS)
        contents = list(_contents(row))
        if len(labels) == len(contents):
            for label, content in zip(labels, contents, strict=True):
                begin_with_label(content, label.text())
            row.decompose()


def _contents(row: LexborNode) -> Iterator[LexborNode]:
    """The contents below a row, or those in the element below it."""
    below = row.next
    while below is not None:
        if is_content(below):
            yield below
        elif below.tag != "-text":
            yield from filter(is_content, below.iter())
            return
        below = below.next


def first_panel(parent: LexborNode) -> LexborNode | None:
    """The first of at least two elements of one shape that end the parent, as the items of an accordion or columns do.

    Each has a heading and more text; None if the parent ends with something else, or with one of them only.
    """
    panels: list[LexborNode] = []
    child = parent.last_child
    while child is not None:
        if child.tag != "-comment" and child.text().strip():
            if child.tag not in PANEL_TAGS or (panels and not _are_alike(child, panels[-1])):
                break
            panels.append(child)
        child = child.prev
    return panels[-1] if len(panels) > 1 and all(map(_is_headed, panels)) else None


def _are_alike(node: LexborNode, other: LexborNode) -> bool:
    """Whether two elements have the same tag, and a class in common unless they have none."""
    classes, others = (set((element.attributes.get("class") or "").split()) for element in (node, other))
    return node.tag == other.tag and (not classes.isdisjoint(others) or classes == others)


def _is_headed(panel: LexborNode) -> bool:
    """Whether an element begins with a heading and has text below it."""
    heading = panel.css_first(HEADINGS)
    if heading is None:
        return False
    title, text = "".join(heading.text().split()), "".join(panel.text().split())
    return bool(title) and text.startswith(title) and text != title


def is_content(node: LexborNode) -> bool:
    """Whether an element is what a tab shows."""
    attributes = node.attributes
    return attributes.get("role") == "tabpanel" or CONTENT_CLASS in (attributes.get("class") or "").split()
