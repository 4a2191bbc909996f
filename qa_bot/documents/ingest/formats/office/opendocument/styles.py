"""Styles of OpenDocument files: titles, code, bold paragraphs, the numbers of lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.list_labels import numeral
from qa_bot.documents.ingest.formats.office.names import value, whole_number
from qa_bot.documents.ingest.formats.office.word.styles import CODE, MONOSPACED, QUOTE, TITLES

MOST_ANCESTORS = 20
POINTS = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)pt")
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
    is_hidden: bool = False
    size: float = 0
    font: str = ""


class ListLevel(NamedTuple):
    """The numbers of a list at one level: the first one, their form ("1", "a", "i"), what is around them.

    `levels` is the number of levels whose numbers are shown: "1.2" for 2.
    """

    first: int
    form: str
    before: str
    after: str
    levels: int


class OdfStyles:
    """Styles of paragraphs and of lists, by name."""

    def __init__(self, roots: Iterable[Element | None]) -> None:
        self._elements: dict[str, Element] = {}
        self._fonts: dict[str, str] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        for root in roots:
            for element in root.iter() if root is not None else ():
                if element.tag == "style:style":
                    self._elements[element.get("style:name", "")] = element
                elif element.tag == "style:font-face":
                    self._fonts[element.get("style:name", "")] = element.get("svg:font-family", "")
                elif element.tag == "text:list-style":
                    self._lists[element.get("style:name", "")] = _levels(element)
        self._styles: dict[str, OdfStyle] = {}

    def style(self, name: str) -> OdfStyle:
        """The style of a paragraph or a run."""
        if name not in self._styles:
            style = _inherited(name, self._elements)
            self._styles[name] = style._replace(font=self._fonts.get(style.font, style.font))
        return self._styles[name]

    def list_level(self, name: str, level: int) -> ListLevel | None:
        """The numbers of a list at a level from 1; None if it has bullets."""
        return self._lists.get(name, {}).get(level)

    def label(self, name: str, numbers: Sequence[int]) -> str:
        """The label of an item with its number, after the numbers of the items around it."""
        shape = self.list_level(name, len(numbers))
        if shape is None:
            return ""
        texts = [
            numeral(number, outer.form)
            for level, number in enumerate(numbers, 1)
            if level > len(numbers) - shape.levels and (outer := self.list_level(name, level)) is not None
        ]
        return f"{shape.before}{'.'.join(texts)}{shape.after}".strip()

    def knows_list(self, name: str) -> bool:
        """Whether there is such a style of lists."""
        return name in self._lists


def _levels(element: Element) -> dict[int, ListLevel]:
    """The levels with numbers."""
    return {
        whole_number(level.get("text:level"), 1): ListLevel(
            whole_number(level.get("text:start-value"), 1),
            level.get("style:num-format", "1"),
            level.get("style:num-prefix", ""),
            level.get("style:num-suffix", ""),
            whole_number(level.get("text:display-levels"), 1),
        )
        for level in element
        if level.tag == "text:list-level-style-number" and level.get("style:num-format") != ""
    }


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
    families = [value(style, "style:text-properties", attribute="fo:font-family") for style in chain]
    weights = [value(style, "style:text-properties", attribute="fo:font-weight") for style in chain]
    positions = [value(style, "style:text-properties", attribute="style:text-position") for style in chain]
    strokes = [value(style, "style:text-properties", attribute="style:text-line-through-style") for style in chain]
    sizes = [POINTS.fullmatch(value(style, "style:text-properties", attribute="fo:font-size")) for style in chain]
    displays = [value(style, "style:text-properties", attribute="text:display") for style in chain]
    return OdfStyle(
        is_title=any(name.lower() in TITLES for name in names),
        is_code=any(CODE.search(name) for name in names) or any(MONOSPACED.search(font) for font in fonts),
        is_quote=any(QUOTE.search(name) for name in names),
        is_bold=next(filter(None, weights), "") == "bold",
        is_raised=bool(RAISED.match(next(filter(None, positions), ""))),
        is_struck=next(filter(None, strokes), "none") != "none",
        is_hidden=next(filter(None, displays), "") == "none",
        size=next((float(size[1]) for size in sizes if size), 0),
        font=next((font or family for font, family in zip(fonts, families, strict=True) if font or family), ""),
    )
