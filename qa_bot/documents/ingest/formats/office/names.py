"""Short names of the elements and attributes of office files: `w:p` rather than `http://…/main}p`."""

from __future__ import annotations

from functools import lru_cache
from xml.etree.ElementTree import Element

PREFIXES = {
    "wordprocessingml/main": "w",
    "wordprocessingml/2006/main": "w",
    "drawingml/main": "a",
    "drawingml/2006/main": "a",
    "drawingml/chart": "c",
    "drawingml/2006/chart": "c",
    "drawingml/diagram": "dgm",
    "drawingml/2006/diagram": "dgm",
    "wordprocessingDrawing": "wp",
    "spreadsheetDrawing": "xdr",
    "wordprocessingShape": "wps",
    "presentationml/main": "p",
    "presentationml/2006/main": "p",
    "spreadsheetml/main": "x",
    "spreadsheetml/2006/main": "x",
    "officeDocument/relationships": "r",
    "officeDocument/2006/relationships": "r",
    "officeDocument/math": "m",
    "officeDocument/2006/math": "m",
    "markup-compatibility/2006": "mc",
    "metadata/core-properties": "cp",
    "elements/1.1/": "dc",
    "purl.org/dc/terms/": "dcterms",
    "schemas-microsoft-com:vml": "v",
    "opendocument:xmlns:office:1.0": "office",
    "opendocument:xmlns:text:1.0": "text",
    "opendocument:xmlns:table:1.0": "table",
    "opendocument:xmlns:drawing:1.0": "draw",
    "opendocument:xmlns:style:1.0": "style",
    "opendocument:xmlns:presentation:1.0": "presentation",
    "opendocument:xmlns:meta:1.0": "meta",
    "opendocument:xmlns:xsl-fo-compatible:1.0": "fo",
    "opendocument:xmlns:svg-compatible:1.0": "svg",
    "www.w3.org/1999/xlink": "xlink",
    "www.w3.org/XML/1998/namespace": "xml",
}
"""The end of a namespace → prefix, for the transitional and the strict form of Office Open XML."""


@lru_cache(maxsize=4096)  # bounded: a hostile file may have any number of names
def short(name: str) -> str:
    """`namespace}name` as `prefix:name`."""
    namespace, bracket, local = name.rpartition("}")
    if not bracket:
        return name
    return next((f"{prefix}:{local}" for end, prefix in PREFIXES.items() if namespace.endswith(end)), local)


def qualify(root: Element) -> Element:
    """Gives `root` and everything below it short names; unknown namespaces are left out of names."""
    for element in root.iter():
        element.tag = short(element.tag)
        for name in element.attrib:
            if "}" in name:
                element.attrib = {short(name): value for name, value in element.attrib.items()}
                break
    return root


def child(element: Element | None, *path: str) -> Element | None:
    """The first child `path[0]`, its first child `path[1]`, and so on; None if there is none."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if inner.tag == name), None)
    return element


def value(element: Element | None, *path: str, attribute: str = "w:val", default: str = "") -> str:
    """An attribute of `child(element, *path)`."""
    target = child(element, *path)
    return default if target is None else target.get(attribute, default)


def whole_number(text: str | None, default: int = 0) -> int:
    """A decimal number of a file, or `default` if it is none."""
    try:
        return int(text or "")
    except ValueError:
        return default
