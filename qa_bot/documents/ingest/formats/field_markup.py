"""Fields and cells that hold HTML, as dumps of websites and help desks have them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.formats.markup.html import fragment, one_line, plain
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

_NAMES = (
    "a abbr article b blockquote code dd del div dl dt em figure h1 h2 h3 h4 h5 h6 i kbd li mark ol p pre q s section "
    "small span strong sub sup table tbody td th thead tr u ul"
)
NAMES = frozenset(_NAMES.split())
BEGIN = re.compile(r"<([a-zA-Z][a-zA-Z1-6]{0,9})(?:\s[^<>]*+)?>")
END = re.compile(r"</([a-zA-Z][a-zA-Z1-6]{0,9})\s*+>")
LINE_END = re.compile(r"[\w.,;:!?)>]<br\s*+/?>", re.IGNORECASE)
"""After a word: in "write <br>" it is what the text is about."""


class FieldText(NamedTuple):
    """The text of a record, and whether it is Markdown."""

    text: str
    markdown: bool


def is_html(text: str) -> bool:
    """Whether a text has a known element with its end, or line ends of HTML."""
    if "<" not in text:
        return False
    ends = {match[1].lower() for match in END.finditer(text)} & NAMES
    return bool(ends and any(match[1].lower() in ends for match in BEGIN.finditer(text))) or bool(LINE_END.search(text))


def field_text(*texts: str) -> FieldText:
    """The texts of fields as paragraphs: Markdown if one of them is HTML, otherwise unchanged."""
    if not any(map(is_html, texts)):
        return FieldText("\n\n".join(texts), markdown=False)
    writer = MarkdownWriter()
    for text in texts:
        if is_html(text):
            fragment(text, writer)
        else:
            writer.paragraph(text)
    return FieldText(writer.text, markdown=True)


def plain_field(text: str, *others: str) -> str:
    """The text of a field without tags and entities, which it may have if it is HTML or the other fields are."""
    if is_html(text):
        return plain(text)
    return html.unescape(text).strip() if any(map(is_html, others)) else text


def cells_without_tags(rows: Sequence[list[str]]) -> list[list[str]]:
    """Rows of a table, whose cells of HTML are Markdown on one line."""
    return [[one_line(cell) if is_html(cell) else cell for cell in row] for row in rows]
