"""Styles and numbering of Word documents: which paragraph is a heading, an item, code, and with what number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.list_labels import numeral
from qa_bot.documents.ingest.formats.office.names import child, value, whole_number

HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|заголовок|見出し|标题)\s*([1-9])\b",
    re.IGNORECASE,
)
"""The built-in name is English in every Word; other programs write localised ones."""
TITLES = {"title", "titel", "titre", "título", "titolo"}
CODE = re.compile(r"code|source|listing|verbatim|html preformatted|preformatted text|plain text", re.IGNORECASE)
QUOTE = re.compile(r"\b(?:quote|quotation|zitat|citation)", re.IGNORECASE)
CAPTION = re.compile(
    r"caption|beschriftung|(?:bild|tabellen)unterschrift|légende|legende|leyenda|epígrafe|didascalia|bijschrift",
    re.IGNORECASE,
)
CONTENTS = re.compile(r"toc\b|toc \d|contents|verzeichnis \d|table of (?:contents|figures)", re.IGNORECASE)
LIST_DEPTH = re.compile(r"list (?:bullet|number|continue)?\s*([2-9])$", re.IGNORECASE)
CONTINUED = re.compile(r"list (?:paragraph|continue)|listen(?:absatz|fortsetzung)|paragraphe de liste", re.IGNORECASE)
"""The style of an item, which is also that of its further paragraphs, without a number."""
MONOSPACED = re.compile(r"courier|consolas|menlo|monaco|mono\b|lucida console|source code|fira code", re.IGNORECASE)
MOST_ANCESTORS = 20
RAISED = "superscript"
NO_NUMBER = {"bullet", "none", ""}
FORMS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


class Style(NamedTuple):
    """A style after inheritance; `level` is a heading's level (0: none), `numbering` its list."""

    name: str = ""
    level: int = 0
    numbering: tuple[str, int] | None = None
    is_code: bool = False
    is_bold: bool = False
    is_caption: bool = False
    is_hidden: bool = False
    is_raised: bool = False
    is_struck: bool = False
    font: str = ""


class Number(NamedTuple):
    """An item's depth, its number (None for a bullet), and the label as shown ("2.1", "a)")."""

    depth: int
    number: int | None
    label: str


def read_styles(root: Element | None) -> dict[str, Style]:
    """Styles by their ids."""
    elements = {}
    for element in root if root is not None else ():
        if element.tag == "w:style":
            elements[element.get("w:styleId", "")] = element
    return {style_id: _style(style_id, elements) for style_id in elements}


def _style(style_id: str, elements: Mapping[str, Element]) -> Style:
    chain: list[Element] = []
    while style_id in elements and len(chain) < MOST_ANCESTORS:
        chain.append(elements[style_id])
        style_id = value(elements[style_id], "w:basedOn")
    names = [value(element, "w:name") for element in chain]
    levels = [_level(element, name) for element, name in zip(chain, names, strict=True)]
    lists = [numbering_of(child(element, "w:pPr")) for element in chain]
    texts = [child(element, "w:rPr") for element in chain]
    return Style(
        names[0],
        level=next(filter(None, levels), 0),
        numbering=next(filter(None, lists), None),
        is_code=any(CODE.search(name) for name in names) or any(map(is_monospaced, texts)),
        is_bold=_first_switch(texts, "w:b"),
        is_caption=any(CAPTION.search(name) for name in names),
        is_hidden=_first_switch(texts, "w:vanish"),
        is_raised=next(filter(None, (value(text, "w:vertAlign") for text in texts)), "") == RAISED,
        is_struck=_first_switch(texts, "w:strike") or _first_switch(texts, "w:dstrike"),
        font=next(filter(None, map(font_of, texts)), ""),
    )


def _first_switch(properties: Sequence[Element | None], name: str) -> bool:
    """A switch as the nearest style sets it."""
    return next((switch for element in properties if (switch := is_on(element, name)) is not None), False)


def _level(style: Element, name: str) -> int:
    match = HEADING.match(name)
    return int(match[1]) if match else outline_level(child(style, "w:pPr"))


def outline_level(properties: Element | None) -> int:
    """A heading's level 1 to 9 by its outline level, else 0."""
    level = whole_number(value(properties, "w:outlineLvl"), 9)
    return level + 1 if 0 <= level < 9 else 0


def numbering_of(properties: Element | None) -> tuple[str, int] | None:
    """The list and level of a paragraph's or style's properties."""
    number = child(properties, "w:numPr")
    if number is None:
        return None
    return value(number, "w:numId"), whole_number(value(number, "w:ilvl"))


def is_on(properties: Element | None, name: str) -> bool | None:
    """A switch such as bold: None if it is not set here."""
    element = child(properties, name)
    return None if element is None else element.get("w:val", "true") not in {"0", "false", "off"}


def is_monospaced(properties: Element | None) -> bool:
    """Whether text properties name a font of equal widths."""
    return bool(MONOSPACED.search(font_of(properties)))


def font_of(properties: Element | None) -> str:
    """The font that text properties name."""
    return value(properties, "w:rFonts", attribute="w:ascii")


class _Level(NamedTuple):
    start: int
    kind: str
    label: str


class Numbering:
    """Counts the items of all lists of a document, as Word does."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}  # list → its abstract list
        self._restarts: dict[str, dict[int, int]] = {}  # list → level → first number
        self._counts: dict[str, dict[int, int]] = {}  # abstract list → level → last number
        self._begun: set[str] = set()
        for element in root if root is not None else ():
            if element.tag == "w:abstractNum":
                self._levels[element.get("w:abstractNumId", "")] = _levels(element)
            elif element.tag == "w:num":
                self._add_list(element)

    def _add_list(self, element: Element) -> None:
        name = element.get("w:numId", "")
        self._lists[name] = value(element, "w:abstractNumId")
        for override in element:
            start = value(override, "w:startOverride")
            if override.tag == "w:lvlOverride" and start:
                level = whole_number(override.get("w:ilvl"))
                self._restarts.setdefault(name, {})[level] = whole_number(start, 1)

    def next(self, name: str, level: int) -> Number | None:
        """The next item of a list at a level from 0; None if the list has no signs."""
        abstract = self._lists.get(name)
        if abstract is None:
            return None
        levels = self._levels.get(abstract, {})
        counts = self._counts.setdefault(abstract, {})
        if name not in self._begun:
            self._begun.add(name)
            for restarted, start in self._restarts.get(name, {}).items():
                counts[restarted] = start - 1
        shape = levels.get(level, _Level(1, "bullet", ""))
        counts[level] = counts.get(level, shape.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if shape.kind in NO_NUMBER:
            return Number(level, None, "") if shape.kind == "bullet" else None
        return Number(level, counts[level], _label(shape.label, levels, counts))


def _levels(element: Element) -> dict[int, _Level]:
    return {
        whole_number(level.get("w:ilvl")): _Level(
            whole_number(value(level, "w:start"), 1), value(level, "w:numFmt"), value(level, "w:lvlText")
        )
        for level in element
        if level.tag == "w:lvl"
    }


def _label(pattern: str, levels: Mapping[int, _Level], counts: Mapping[int, int]) -> str:
    def shown(match: re.Match[str]) -> str:
        level = int(match[1]) - 1
        shape = levels.get(level, _Level(1, "decimal", ""))
        return numeral(counts.get(level, shape.start), FORMS.get(shape.kind, ""))

    return re.sub(r"%([1-9])", shown, pattern).strip()
