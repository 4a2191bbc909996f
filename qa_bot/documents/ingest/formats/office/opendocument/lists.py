"""Lists of OpenDocument texts: the numbers of their items, also of lists that continue earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.names import whole_number
from qa_bot.documents.ingest.formats.office.opendocument.styles import OdfStyles

DEEPEST = 9
BLOCKS = {"table:table", "draw:frame"}
TEXTS = {"text:p", "text:h"}
"""An item without them, which only has an inner list, is not counted."""

WriteItem = Callable[[Element, int, int | None, str], None]
"""Writes the text of an item with its depth, number and label."""


class OdfLists:
    """Counts the items of the lists of a document, and writes them with `write_item`; `add` writes other blocks."""

    def __init__(self, styles: OdfStyles, write_item: WriteItem, add: Callable[[Element], None]) -> None:
        self._styles = styles
        self._write_item = write_item
        self._add = add
        self._by_name: dict[str, list[int]] = {}  # the last numbers of lists by level: of a list's name …
        self._by_style: dict[str, list[int]] = {}  # … and of the last list with a style

    def write(self, element: Element) -> None:
        """Writes a list that is in no other one."""
        style = element.get("text:style-name", "")
        continued = self._by_name.get(element.get("text:continue-list", ""))
        if continued is None and _continues(element):
            continued = self._by_style.get(style)
        numbers = continued if continued is not None else []
        self._by_style[style] = numbers
        if name := element.get("xml:id"):
            self._by_name[name] = numbers
        self._write(element, 0, "", numbers, goes_on=continued is not None)

    def _write(self, element: Element, depth: int, outer: str, numbers: list[int], *, goes_on: bool) -> None:
        """Writes a list; `numbers` are the last ones of all levels, from which it goes on or which it replaces.

        Args:
            outer: the style of the list around it.
        """
        style = element.get("text:style-name", "")
        style = style if self._styles.knows_list(style) else outer
        shape = self._styles.list_level(style, depth + 1)
        if not goes_on:
            del numbers[depth:]
        numbers += [(shape.first if shape is not None else 1) - 1] * (depth + 1 - len(numbers))
        for item in element:
            if item.tag not in {"text:list-item", "text:list-header"}:
                continue
            number = whole_number(item.get("text:start-value"), numbers[depth] + 1)
            has_text = any(block.tag in TEXTS for block in item)
            is_numbered = item.tag == "text:list-item" and shape is not None
            label = self._styles.label(style, [*numbers[:depth], number]) if is_numbered else ""
            self._write_item(item, depth, number if is_numbered else None, label)
            if has_text and item.tag == "text:list-item":
                numbers[depth:] = [number]
            for block in item:
                if block.tag == "text:list" and depth < DEEPEST:
                    goes_on = not has_text or _continues(block)
                    self._write(block, depth + 1, style, numbers, goes_on=goes_on)
                elif block.tag in BLOCKS:
                    self._add(block)


def _continues(element: Element) -> bool:
    return element.get("text:continue-numbering") == "true"
