"""Recognises the marks of footnotes, which are links to them."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

FOOTNOTE_MARK = re.compile(r"\[?(?:\d{1,3}|[a-z*†‡])\]?", re.IGNORECASE)


def is_footnote_link(link: LexborNode, text: str) -> bool:
    """Whether a link is the mark of a footnote, or leads from the footnote back to it."""
    is_raised = (link.parent is not None and link.parent.tag == "sup") or link.css_first("sup") is not None
    return (is_raised or is_note_mark(link)) and FOOTNOTE_MARK.fullmatch(text) is not None


def is_note_mark(link: LexborNode) -> bool:
    """Whether a link is declared as the mark of a footnote, as in e-books, which may have them in another file."""
    kinds = f"{link.attributes.get('epub:type') or ''} {link.attributes.get('role') or ''}".split()
    return "noteref" in kinds or "doc-noteref" in kinds
