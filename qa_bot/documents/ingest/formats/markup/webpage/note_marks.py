"""The marks of footnotes in a page, and the links that lead from the notes back to them."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

MARK = re.compile(r"\[?(\d{1,3}|[a-z*†‡])[\])]?", re.IGNORECASE)
BACK = re.compile(r"[↩⏎↵↑^]\ufe0e?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]*")
"""The text of a link that only leads back."""
ROLES = {"noteref", "doc-noteref"}
LABELS = "aside.footnote > .label, aside.citation > .label"
DOKUWIKI_NOTES = ".footnotes > .fn"
BACK_LINKS = "aside.footnote > .backrefs, .mw-cite-backlink"
"""Of docutils and MediaWiki: links from a note to all places that mention it."""


def label_notes(root: LexborNode) -> None:
    """Move the labels of notes below the element into the first paragraphs of their texts."""
    for links in root.css(BACK_LINKS):
        links.decompose()
    for label in root.css(LABELS):
        text = label.next
        while text is not None and text.tag == "-text":
            text = text.next
        if text is not None and text.tag == "p" and text.child is not None:
            text.child.insert_before(f"{label.text().strip()} ")
            label.decompose()
    for note in root.css(DOKUWIKI_NOTES):
        raised, content = note.css_first("sup"), note.css_first(".content")
        mark = MARK.fullmatch(raised.text().strip()) if raised is not None else None
        if raised is not None and mark and content is not None and content.child is not None:
            content.child.insert_before(f"[{mark[1]}] ")
            raised.decompose()


class NoteMarks:
    """Recognises the marks of a page, which it gets in their order."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # of the marks, by the ids that links back to them have

    def shown(self, link: LexborNode) -> str | None:
        """What is shown of a mark, as "[1]", and of a link back to one: "" unless it is the label of its note.

        None for other links.
        """
        address = link.attributes.get("href") or ""
        text, (_, is_inside, target) = link.text().strip(), address.partition("#")
        if is_inside and BACK.fullmatch(text):
            return ""
        is_declared = _is_declared(link)
        is_mark = address.startswith("#") and (_is_raised(link) or target in self._texts)
        if not is_declared and not is_mark:
            return None
        mark = MARK.fullmatch(text)
        if mark is None:
            return None
        if (text_of_target := self._texts.get(target)) is not None:
            return f"[{mark[1]}]" if mark[1] == text_of_target else ""
        for node in (link, link.parent):
            if node is not None and (name := node.attributes.get("id") or node.attributes.get("name")):
                self._texts[name] = mark[1]
        return f"[{mark[1]}]"


def _is_raised(link: LexborNode) -> bool:
    return (link.parent is not None and link.parent.tag == "sup") or link.css_first("sup") is not None


def _is_declared(link: LexborNode) -> bool:
    """Whether a link is declared as the mark of a footnote, as in e-books, which may have them in another file."""
    kinds = f"{link.attributes.get('epub:type') or ''} {link.attributes.get('role') or ''}".split()
    return not ROLES.isdisjoint(kinds)
