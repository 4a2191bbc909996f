"""Elements of DocBook by their names without namespaces: attributes, children, titles, plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

LONGEST_NAME = 300  # characters of a title in a sentence
UNREAD = (
    "alt anchor area areaset areaspec audiodata audioobject authorblurb authorgroup beginpage cover imagedata "
    "imageobject imageobjectco include index indexterm itermset label lot lotentry math objectinfo remark "
    "screeninfo setindex svg titleabbrev toc tocchap tocentry videodata videoobject"
)
DROPPED = frozenset(UNREAD.split())
"""What no reader of the text sees: pictures, entries of indexes, tables of contents, remarks of editors."""
NAMING = ("title", "term", "glossterm", "refentrytitle", "refname", "caption", "question", "segtitle")
"""Children that give an element its name in references."""


def local(element: Element) -> str:
    """The name without its namespace."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, *names: str) -> str:
    """The first attribute of these names that is there, in any namespace; "" without one."""
    values = {name.rpartition("}")[2]: value for name, value in element.items()}
    return next((values[name].strip() for name in names if name in values), "")


def children(element: Element, *names: str) -> Iterator[Element]:
    return (child for child in element if local(child) in names)


def child(element: Element, *names: str) -> Element | None:
    return next(children(element, *names), None)


def is_info(element: Element) -> bool:
    """Whether an element holds what a document says of itself: `info`, `bookinfo`, `refmeta` …"""
    name = local(element)
    return name.endswith("info") or name in {"artheader", "refmeta"}


def infos(element: Element) -> Iterator[Element]:
    return (part for part in element if is_info(part))


def title_of(element: Element) -> Element | None:
    """The title of an element, of its info, or the name of a page of a manual."""
    title = child(element, "title")
    for part in infos(element) if title is None else ():
        title = title if title is not None else child(part, "title", "refentrytitle")
    names = child(element, "refnamediv") if title is None else None
    return child(names, "refdescriptor", "refname") if names is not None else title


def verbatim(element: Element) -> str:
    """The text of an element with its white space, without what is dropped; marks of callouts are numbered."""
    parts: list[str] = []
    marks = 0
    waiting: list[Element | str] = [element]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        if local(one) == "co":
            marks += 1
            parts.append(f"({marks})")
        elif one is element or local(one) not in DROPPED:
            parts.append(one.text or "")
            for part in reversed(one):
                waiting += [part.tail or "", part]
    return "".join(parts)


def words(element: Element) -> str:
    """The text of an element on one line."""
    return " ".join(verbatim(element).split())


class References:
    """The elements of a document by their ids, for the texts of references."""

    def __init__(self, root: Element) -> None:
        self._elements: dict[str, Element] = {}
        self._names: dict[str, str] = {}
        for element in root.iter():
            if identity := attribute(element, "id"):
                self._elements.setdefault(identity, element)

    def name(self, target: str) -> str:
        """The title of the element with an id; readable words of the id if it has none or is in another file."""
        if target not in self._names:
            self._names[target] = self._named(target)
        return self._names[target]

    def text(self, target: str) -> str:
        """The words of the element with an id."""
        element = self._elements.get(target)
        return words(element)[:LONGEST_NAME] if element is not None else ""

    def _named(self, target: str) -> str:
        element = self._elements.get(target)
        label = attribute(element, "xreflabel") if element is not None else ""
        if element is not None and not label:
            title = title_of(element)
            title = child(element, *NAMING) if title is None else title
            label = words(title) if title is not None else words(element) if local(element) in NAMING else ""
        return (label or re.sub(r"[._\s-]+", " ", target).strip())[:LONGEST_NAME]
