"""Puts the labels of tabs in front of their contents: a page has all labels in one row above them."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.admonitions import begin_with_label

ROWS = ".tabbed-labels, [role=tablist]"
LABELS = ".tabbed-labels > label, [role=tab]"
CONTENT_CLASS = "tabbed-block"
"""Material for MkDocs has classes, other generators the roles of ARIA."""


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
        if _is_content(below):
            yield below
        elif below.tag != "-text":
            yield from filter(_is_content, below.iter())
            return
        below = below.next


def _is_content(node: LexborNode) -> bool:
    attributes = node.attributes
    return attributes.get("role") == "tabpanel" or CONTENT_CLASS in (attributes.get("class") or "").split()
