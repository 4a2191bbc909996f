"""A short line that is bold or underlined, which is a heading or a title, depending on what follows it."""

from __future__ import annotations

import re
from typing import Literal

from qa_bot.documents.ingest.line_headings import states_something
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

LONGEST = 80  # characters
CAPTION = re.compile(
    r"(?:fig(?:ur[ea]?)?|table|tab(?:elle|leau|ella|la)?|abb(?:ildung)?|bild|picture|photo|chart|plate|рис(?:унок)?"
    r"|таблица)\b\.?\s*\d",
    re.IGNORECASE,
)
"""The beginning of a caption, such as "Figure 1": it is about a picture or a table, not about the text below it."""
ADDRESS = re.compile(r"\w@\w|://")


class BoldLine:
    """Holds a bold line until the next block is known; `title` is the text of one that is the document's title.

    It is a heading if text follows. It is the title if it begins the document and a heading follows.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self.title = ""
        self._writer = writer
        self._text = ""

    def takes(self, text: str, *, is_bold: bool) -> bool:
        """Whether a paragraph is held; otherwise the caller writes it."""
        is_plain = "\n" in text or ADDRESS.search(text) is not None or CAPTION.match(text) is not None
        is_short = is_bold and len(text) <= LONGEST and text[-1] not in ".!?,;" and not is_plain
        is_short = is_short and not (len(self._writer) and states_something(text))
        self.settle("heading" if is_short else "text")
        if is_short:
            self._text = text
        return is_short

    def settle(self, follower: Literal["text", "heading", "title", "end"]) -> None:
        """Write the line that is held, before the block that follows it."""
        text, self._text = self._text, ""
        if not text:
            return
        if follower == "text":
            self._writer.heading(6, text)
        elif follower == "heading" and not len(self._writer):
            self.title = text
            self._writer.heading(1, text)
        else:
            self._writer.paragraph(text)
