"""The header of an AsciiDoc document: below the title a line that names the authors, then one about the revision."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.dates import iso_date

ATTRIBUTE = re.compile(r":(!?[\w-]+(?: [\w-]+)?!?):(?:\s+(.*))?")
LONGEST = 300
"""Characters of an author or revision line."""

_DATE = re.compile(r"(.*\d{4}.*?)(?::.*)?")
"""A date, and a remark after a colon."""
_NUMBER = re.compile(r"(?:[^\d,]*\d[\w.-]*,|v?[\d.]*\s)\s*(?=\S)")
"""What stands before a date: "v4.2, ", "Revision 4.2, "."""
_VERSION = re.compile(r"v\d[\w.-]*,?(?:\s*:.*)?")
_ADDRESS = re.compile(r"[^<>]{1,100}<[^<>\s]+@[^<>\s]+>.*")
_PARTICLES = r"(?:von|van|vom|zu|de|der|den|di|da|del|du|la|le|el|bin|al)"
_WORD = r"[^\W\d_a-z][\w'’-]*\.?"
_NAME = rf"{_WORD}(?: +(?:{_PARTICLES} +){{0,2}}{_WORD}){{1,3}}(?<!\.)"
_NAMES = re.compile(rf"{_NAME}(?:; *{_NAME})*")


def assign(attributes: dict[str, str], line: re.Match[str]) -> None:
    """Set the attribute that a line names, or unset it if an exclamation mark is beside its name."""
    name = line[1].lower()
    if "!" in name:
        attributes.pop(name.strip("!"), None)
    else:
        attributes[name] = (line[2] or "").strip()


class HeaderLines:
    """Tells the lines of the header from the text, in their order; before a title and after the header there are none.

    A line without an address names authors if it looks like names and no text follows directly.
    """

    def __init__(self) -> None:
        self._is_open = self._may_name_authors = False

    def begin(self) -> None:
        """The title was read."""
        self._is_open = self._may_name_authors = True

    def holds(self, line: str, below: Sequence[str]) -> bool:
        """Whether a line names authors or a revision.

        Args:
            below: the next line, if there is one.
        """
        if not self._is_open or ATTRIBUTE.fullmatch(line) or line.startswith("//"):
            return False
        is_first, self._may_name_authors = self._may_name_authors, False
        if _is_revision(line):
            self._is_open = False
            return True
        self._is_open = is_first and _names_authors(line, below[0].rstrip() if below else "")
        return self._is_open


def revision_date(line: str) -> str:
    """The date of a revision line, as written; "" if it has none: "v4.2, 2024-03-18: remark", "March 18, 2024"."""
    number = _NUMBER.match(line) if len(line) <= LONGEST else None
    for text in (line[:LONGEST], line[number.end() :] if number else ""):
        if (match := _DATE.fullmatch(text)) and iso_date(match[1]):
            return match[1]
    return ""


def _is_revision(line: str) -> bool:
    return bool(revision_date(line) or _VERSION.fullmatch(line))


def _names_authors(line: str, below: str) -> bool:
    if len(line) > LONGEST:
        return False
    if _ADDRESS.fullmatch(line):
        return True
    is_alone = not below or ATTRIBUTE.fullmatch(below) or below.startswith("//") or _is_revision(below)
    return bool(is_alone and _NAMES.fullmatch(line))
