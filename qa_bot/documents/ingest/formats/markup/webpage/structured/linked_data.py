"""Reads the linked data of a page (schema.org): recipes, questions, articles, steps, properties, hours, events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

SCRIPTS = 'script[type="application/ld+json"]'
HOURS = "meta[itemprop=openingHours][content]"
DEEPEST, MOST = 8, 1000
"""Levels of objects in objects, and objects of a page."""
LISTS = {
    "recipeIngredient": "Ingredients",
    "ingredients": "Ingredients",
    "supply": "Supplies",
    "tool": "Tools",
    "additionalProperty": "Properties",
    "openingHours": "Opening hours",
    "openingHoursSpecification": "Opening hours",
}
STEPS = ("recipeInstructions", "step")
TEXTS = ("acceptedAnswer", "articleBody")
EVENT = {"startDate": "Begin", "endDate": "End", "location": "Place", "description": ""}
ADDRESS_KEYS = ("streetAddress", "postalCode", "addressLocality")
SHOWN = 0.5  # of the lines of a section: then the page shows it


class Section(NamedTuple):
    """A heading and its parts: paragraphs, or items of a list if `sign` is "-", or steps if it is "1."."""

    heading: str
    sign: str
    parts: list[str]


def sections_of(tree: LexborHTMLParser) -> list[Section]:
    """What the page says to programs, each once; to be read before scripts are removed."""
    items = [item for node in tree.css(SCRIPTS) for item in _objects(_parsed(node.text()))]
    items.append({"openingHours": [node.attributes.get("content") for node in tree.css(HOURS)]})
    sections = (section for item in items[:MOST] for section in _sections(item) if section.parts)
    return list({tuple(section.parts): section for section in sections}.values())


def unsaid(sections: list[Section], text: str, plain: Callable[[str], str]) -> Iterator[Section]:
    """The sections that a text does not have, whatever signs are between its words.

    Args:
        plain: the text of a fragment of HTML, one line a block.
    """
    shown = _letters(text) if sections else ""
    for section in sections:
        lines = [letters for part in section.parts for line in plain(part).splitlines() if (letters := _letters(line))]
        if sum(line in shown for line in lines) < SHOWN * len(lines):
            yield section


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _parsed(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _objects(value: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    """All objects of a kind, in lists and objects, too."""
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        if "@type" in value:
            yield value
        value = list(value.values())
    for inner in islice(value, MOST) if isinstance(value, list) else ():
        yield from _objects(inner, depth + 1)


def _sections(item: Mapping[str, object]) -> Iterator[Section]:
    name = _text(item.get("name")) or _text(item.get("headline"))
    for key in TEXTS:
        yield Section(name, "", [line for line in _text(item.get(key)).split("\n\n") if line.strip()])
    for key, heading in LISTS.items():
        yield Section(heading, "-", _lines(item.get(key)))
    for key in STEPS:
        yield Section("Steps", "1.", _lines(item.get(key)))
    if _text(item.get("@type")).endswith("Event"):
        named = ((label, _text(item.get(key))) for key, label in EVENT.items())
        yield Section(name, "-", [f"{label}: {text}" if label else text for label, text in named if text])


def _lines(value: object) -> list[str]:
    """The texts of a list, of sections of steps, or of the lines of a string."""
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    if isinstance(value, list):
        return [
            line for part in value[:MOST] for line in (_lines(part) if isinstance(part, Mapping) else [_text(part)])
        ]
    if isinstance(value, Mapping) and isinstance(inner := value.get("itemListElement"), list):
        return [text for part in inner[:MOST] if (text := _text(part))]
    return [text] if (text := _text(value)) else []


def _text(value: object) -> str:
    """A value on one line: the text of an object, or its name with what is said of it."""
    if isinstance(value, str | int | float):
        return str(value).strip()
    if isinstance(value, list):
        return ", ".join(text for part in value[:MOST] if not isinstance(part, list) and (text := _text(part)))
    if not isinstance(value, Mapping):
        return ""
    if "opens" in value:
        days = value.get("dayOfWeek")
        names = [_plain(day).rpartition("/")[2] for day in (days if isinstance(days, list) else [days])]
        return f"{', '.join(names)} {_plain(value.get('opens'))}-{_plain(value.get('closes'))}".strip()
    if text := _plain(value.get("text")):
        return text
    name = _plain(value.get("name"))
    address = value.get("address", value)
    parts = [_plain(address.get(key)) for key in ADDRESS_KEYS] if isinstance(address, Mapping) else [_plain(address)]
    about = " ".join(filter(None, [_plain(value.get("value")), _plain(value.get("unitText"))]))
    place = " ".join(filter(None, parts))
    return ": ".join(filter(None, [name, about])) if about else ", ".join(filter(None, [name, place]))


def _plain(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) else ""
