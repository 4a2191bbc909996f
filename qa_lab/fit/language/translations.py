"""Reads texts of a language with their English translations: dictionaries, message catalogues and pages of help."""

from __future__ import annotations

import gettext
import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from qa_core.text.sentences import sentences

LONGEST = 180
"""Characters of a text; longer ones cost time and teach no more words."""
VARIANTS = 3
"""English variants of a dictionary's entry that are kept."""
_REMARKS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|<[^>]*>|/[^/ ]*/|\.{3}|…")
_PLACEHOLDERS = re.compile(r"\b(?:etw|jdn|jdm|jds|jmd|jmdn|jmdm|sth|sb|smb)\b\.?(?:'s)?/?")
_MARKUP = re.compile(r"<[^>]{0,200}>")
_MNEMONICS = re.compile(r"&(?=\w)|[_~]")
_UNLIKE_PROSE = ("%", "\\", "@", "{")
_BLOCKS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "li", "td", "dt", "dd", "title"))
_PAGES = frozenset((".html", ".page"))
_LANGUAGE = re.compile(r"\.[a-z]{2}\.")
_UNREAD = frozenset(("script", "style", "pre", "nav"))
_LETTERS = 0.6  # least share of a text
_RATIO = (0.4, 3.0)  # of the lengths of a text and its translation


class Translation(NamedTuple):
    """A text and its translations; `source` names the dictionary, program or manual."""

    text: str
    english: tuple[str, ...]
    source: str


def read_dictionary(path: Path) -> Iterator[Translation]:
    """Entries of a dictionary in the format of Ding: `text; text | text :: English; English | English`.

    Parts between bars translate each other. Entries whose sides have different numbers of parts are left out.
    """
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            sides = line.rstrip("\n").split(" :: ")
            if line.startswith("#") or len(sides) != 2:
                continue
            texts, english = (side.split(" | ") for side in sides)
            for text, translation in zip(texts, english, strict=False) if len(texts) == len(english) else ():
                variants = tuple(filter(None, map(_without_remarks, translation.split(";"))))[:VARIANTS]
                for variant in filter(None, map(_without_remarks, text.split(";"))):
                    if variants:
                        yield Translation(variant, variants, path.name)


def read_catalogues(folder: Path, language: str) -> Iterator[Translation]:
    """Sentences of the message catalogues (`*.mo`) of a language below a folder, whose subfolders are programs."""
    for path in sorted(folder.rglob("*.mo")):
        inside = path.relative_to(folder)
        if not {language, f"{language}_{language.upper()}", f"{language}.mo"} & set(inside.parts):
            continue
        with path.open("rb") as file:
            try:
                messages = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
            except (OSError, ValueError):
                continue
        for key, text in messages.items():
            english = (key[0] if isinstance(key, tuple) else key).split("\x04")[-1]
            yield from _aligned(english, text, inside.parts[0])


def read_pages(folder: Path, english: Path) -> Iterator[Translation]:
    """Sentences of pages (HTML, or Mallard's `*.page`) whose English counterparts have the same blocks.

    A counterpart has the same name, or `about.en.html` for `about.de.html`.
    """
    for path in sorted(file for file in folder.rglob("*") if file.suffix in _PAGES):
        other = english / path.relative_to(folder)
        other = other if other.is_file() else other.with_name(_LANGUAGE.sub(".en.", path.name))
        if not other.is_file():
            continue
        texts, translations = _blocks(path), _blocks(other)
        if [tag for tag, _ in texts] == [tag for tag, _ in translations]:
            for (_, text), (_, translation) in zip(texts, translations, strict=True):
                yield from _aligned(translation, text, str(folder))


def _aligned(english: str, text: str, source: str) -> Iterator[Translation]:
    """The sentences of a text and its translation if they have equally many, else both whole; only prose."""
    english, text = _plain(english), _plain(text)
    parts, others = ([whole[start:end] for start, end in sentences(whole)] for whole in (text, english))
    if len(parts) != len(others):
        parts, others = [text], [english]
    for part, other in zip(parts, others, strict=True):
        if _is_prose(part, other):
            yield Translation(part, (other,), source)


def _is_prose(text: str, english: str) -> bool:
    return (
        0 < len(text) <= LONGEST
        and 0 < len(english) <= LONGEST
        and text != english
        and _RATIO[0] < len(text) / len(english) < _RATIO[1]
        and sum(map(str.isalpha, text)) >= _LETTERS * len(text)
        and not any(sign in text for sign in _UNLIKE_PROSE)
    )


def _without_remarks(text: str) -> str:
    """A variant of an entry without grammar, subject and placeholders ("etw.", "sb.")."""
    return " ".join(_PLACEHOLDERS.sub(" ", _REMARKS.sub(" ", text)).split()).strip(" ,;.:")


def _plain(text: str) -> str:
    return " ".join(_MNEMONICS.sub("", html.unescape(_MARKUP.sub(" ", text))).split())


class _Blocks(HTMLParser):
    """Collects the text of each block; an outer block's text ends where an inner one begins."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (the parser passes it)
        self._unread += tag in _UNREAD
        if tag in _BLOCKS:
            self.blocks.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in _UNREAD and self._unread > 0

    def handle_data(self, data: str) -> None:
        if self.blocks and not self._unread:
            tag, text = self.blocks[-1]
            self.blocks[-1] = (tag, text + data)


def _blocks(path: Path) -> list[tuple[str, str]]:
    parser = _Blocks()
    parser.feed(path.read_text(encoding="utf-8", errors="replace"))
    return [(tag, " ".join(text.split())) for tag, text in parser.blocks if text.strip()]
