"""The title of a document: the one that its properties state, unless a program filled it in, or a heading."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel)\b.*|\(?(?:anonymous|untitled|unspecified|unknown)\)?"
    r"|(?:word[- ])?(?:document|dokument|slide)\d*|powerpoint[- ](?:presentation|präsentation)"
    r"|présentation powerpoint|presentación de powerpoint"
    r"|.*\.(?:docx?|pptx?|xlsx?|odt|pdf|indd|tex|dvi|rtf|qxd|pages|html?)|https?:\S+",
    re.IGNORECASE,
)
"""Titles that programs fill in."""
WORD = re.compile(r"[^\W\d_]+")
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
UNNAMED_WORDS = "readme index main document doc docs file page text untitled content contents home start"
UNNAMED = frozenset(UNNAMED_WORDS.split())
"""Names of files that say nothing of their subject."""
SHORTEST_NAME = 3  # letters of a word
LONGEST_INITIALS = 6
PART = re.compile(
    r"(?:appendix|annexe?|attachment|part|chapter|section|article|anhang|anlage|teil|kapitel|abschnitt|artikel)\b"
    r"|§|\d{1,3}(?:[.):]|\s)|[ivxIVX]{1,6}[.):]\s|[a-zA-Z][.):]\s",
    re.IGNORECASE,
)
"""The beginning of the heading of a numbered part, or of an appendix."""


def stated_title(title: str, stem: str) -> str:
    """The title of a file's properties, unless a program filled it in: "" for such ones, and for the name of the file.

    Args:
        stem: the name of the file.
    """
    title = " ".join(title.split())
    is_name = title.casefold().removesuffix(".pdf") == stem.casefold()
    return "" if is_name or NO_TITLE.fullmatch(title) or not any(map(str.isalpha, title)) else title


def sole_title(writer: MarkdownWriter) -> str:
    """The heading that begins the text if no other has its level, 1; "" without one."""
    titles = [text for level, text in writer.headings if level == 1]
    return titles[0] if len(titles) == 1 and writer.text.startswith(f"# {titles[0]}") else ""


def first_title(writer: MarkdownWriter, stem: str = "") -> str:
    """The first heading if it begins the text, else the only one of level 1; "" without one.

    Of several of level 1 the first may be the first section ("General") instead of the title. It is the title if it
    has a word of the file's name (and no other has more of them) or is abbreviated by it, if it heads no text, if all
    others are numbered parts or appendices and it is not, or if the file's name says nothing ("README").

    Args:
        stem: the name of the file; without one the first heading is the title.
    """
    if not writer.headings:
        return ""
    level, text = writer.headings[0]
    first, *others = [text for level, text in writer.headings if level == 1] or [""]
    if level != 1 or not writer.text.startswith(f"# {text}"):
        return "" if others else first
    heads_nothing = writer.text.startswith(f"# {text}\n\n# ")
    return text if not others or heads_nothing or _is_title(text, others, stem) else ""


def _is_title(heading: str, others: Sequence[str], stem: str) -> bool:
    """Whether the first of several headings of level 1 is that of the whole document."""
    names = {word for word in _words(stem) if len(word) >= SHORTEST_NAME} - UNNAMED
    if not names:
        return True
    if not PART.match(heading) and all(map(PART.match, others)):
        return True
    shared, *shares = (sum(_is_shared(name, _words(text)) for name in names) for text in (heading, *others))
    return (shared > 0 and shared >= max(shares)) or _is_short_for(stem, heading)


def _words(text: str) -> list[str]:
    return WORD.findall(text.translate(UMLAUTS).casefold())


def _is_shared(name: str, words: Sequence[str]) -> bool:
    return any(name == word or (len(min(name, word, key=len)) > 3 and (name in word or word in name)) for word in words)


def _is_short_for(stem: str, heading: str) -> bool:
    """Whether the name is the initials of the heading, or of the parts of its long word: "RKO"."""
    if not (stem.isalpha() and stem.isupper() and len(stem) <= LONGEST_INITIALS):
        return False
    letters = iter(heading.casefold())
    return heading[:1].casefold() == stem[0].casefold() and all(letter in letters for letter in stem.casefold())
