"""A short line that is bold or underlined, which is a heading or a title, depending on what follows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from qa_bot.documents.ingest.formats.markup.text import is_section
from qa_bot.documents.ingest.line_headings import states_something
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

LONGEST = 80  # characters
CAPTION = re.compile(
    r"(?:fig(?:ur[ea]?)?|table|tab(?:elle|leau|ella|la)?|abb(?:ildung)?|bild|picture|photo|chart|plate|рис(?:унок)?"
    r"|таблица)\b\.?\s*\d",
    re.IGNORECASE,
)
"""The beginning of a caption, such as "Figure 1": it is about a picture or a table, not about the text below it."""
TYPED = re.compile(r"(?:([-•·‣▪◦–—])|(\d{1,2})[.)])\s+(\S.*)")
ADDRESS = re.compile(r"\w@\w|://")


class BoldLine:
    """Holds a bold line until the next block is known; `title` is the text of one that is the document's title.

    It is a heading if text follows. It is the title if it begins the document and is large, or a heading follows.
    The number of a section ("§ 3 Fees") is as good as bold type, and so are capitals at the beginning for a title.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self.title = ""
        self._writer = writer
        self._text = ""
        self._is_large = False
        self._is_heading = self._is_item = False
        self._write_plain: Callable[[str], None] = writer.paragraph

    def takes(
        self, text: str, *, is_bold: bool, is_large: bool = False, plain: Callable[[str], None] | None = None
    ) -> bool:
        """Whether a paragraph is held; otherwise the caller writes it.

        Args:
            plain: writes the line if it is no heading, as an item of a list for example.
        """
        is_heading = is_bold or is_section(text)
        is_bold = is_heading or (not len(self._writer) and (is_large or text.isupper()))
        is_plain = "\n" in text or ADDRESS.search(text) is not None or CAPTION.match(text) is not None
        is_short = is_bold and len(text) <= LONGEST and text[-1] not in ".!,;" and not is_plain
        is_short = is_short and not (len(self._writer) and states_something(text))
        self.settle("heading" if is_short else "item" if plain else "text")
        if is_short:
            self._text, self._is_large, self._is_heading, self._is_item = text, is_large, is_heading, plain is not None
            self._write_plain = plain or self._writer.paragraph
        return is_short

    def settle(self, follower: Literal["text", "item", "heading", "title", "end"]) -> None:
        """Write the line that is held, before the block that follows it."""
        text, self._text = self._text, ""
        if not text:
            return
        is_first = not len(self._writer)
        if is_first and (follower == "heading" or (follower in {"text", "item"} and self._is_large)):
            self.title = text
            self._writer.heading(1, text)
        elif self._is_heading and (follower == "text" or (follower == "item" and not self._is_item)):
            self._writer.heading(6, text)
        else:
            self._write_plain(text)


def write_typed(writer: MarkdownWriter, text: str) -> None:
    """A paragraph, or items whose signs or numbers its author typed."""
    items = [TYPED.fullmatch(line) for line in text.split("\n")]
    if not all(items):
        writer.paragraph(text)
        return
    for item in filter(None, items):
        writer.item(item[3], number=int(item[2]) if item[2] else None)
