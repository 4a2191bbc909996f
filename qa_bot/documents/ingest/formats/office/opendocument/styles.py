"""Styles of OpenDocument files: titles, code, numbered lists, bold paragraphs, number of the first item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.names import value, whole_number
from qa_bot.documents.ingest.formats.office.word.styles import CODE, MONOSPACED, QUOTE, TITLES

MOST_ANCESTORS = 20
RAISED = re.compile(r"super|\d*[1-9]")
"""The position of raised text: a word or a share of the size; that of lowered text is negative."""


class OdfStyle(NamedTuple):
    """What the style of a paragraph or a run says after inheritance."""

    is_title: bool = False
    is_code: bool = False
    is_quote: bool = False
    is_bold: bool = False
    is_raised: bool = False
    is_struck: bool = False


class OdfStyles:
    """Styles of paragraphs and of lists, by name."""

    def __init__(self, roots: Iterable[Element | None]) -> None:
        self._elements: dict[str, Element] = {}
        self._lists: dict[str, dict[int, int | None]] = {}
        for root in roots:
            for element in root.iter() if root is not None else ():
                if element.tag == "style:style":
                    self._elements[element.get("style:name", "")] = element
                elif element.tag == "text:list-style":
                    self._lists[element.get("style:name", "")] = _levels(element)
        self._styles: dict[str, OdfStyle] = {}

    def style(self, name: str) -> OdfStyle:
        """The style of a paragraph or a run."""
        if name not in self._styles:
            self._styles[name] = _inherited(name, self._elements)
        return self._styles[name]

    def first_number(self, name: str, level: int) -> int | None:
        """The number of a list's first item at a level from 1; None if it has bullets."""
        return self._lists.get(name, {}).get(level)

    def knows_list(self, name: str) -> bool:
        """Whether there is such a style of lists."""
        return name in self._lists


def _levels(element: Element) -> dict[int, int | None]:
    levels: dict[int, int | None] = {}
    for level in element:
        number = whole_number(level.get("text:level"), 1)
        if level.tag == "text:list-level-style-number" and level.get("style:num-format") != "":
            levels[number] = whole_number(level.get("text:start-value"), 1)
        else:
            levels[number] = None
    return levels


def _inherited(name: str, elements: Mapping[str, Element]) -> OdfStyle:
    chain: list[Element] = []
    names = [name]
    while name in elements and len(chain) < MOST_ANCESTORS:
        chain.append(elements[name])
        names.append(chain[-1].get("style:display-name", ""))
        name = chain[-1].get("style:parent-style-name", "")
        names.append(name)
    names = [name.replace("_20_", " ") for name in names if name]
    fonts = [value(style, "style:text-properties", attribute="style:font-name") for style in chain]
    weights = [value(style, "style:text-properties", attribute="fo:font-weight") for style in chain]
    positions = [value(style, "style:text-properties", attribute="style:text-position") for style in chain]
    strokes = [value(style, "style:text-properties", attribute="style:text-line-through-style") for style in chain]
    return OdfStyle(
        is_title=any(name.lower() in TITLES for name in names),
        is_code=any(CODE.search(name) for name in names) or any(MONOSPACED.search(font) for font in fonts),
        is_quote=any(QUOTE.search(name) for name in names),
        is_bold=next(filter(None, weights), "") == "bold",
        is_raised=bool(RAISED.match(next(filter(None, positions), ""))),
        is_struck=next(filter(None, strokes), "none") != "none",
    )
