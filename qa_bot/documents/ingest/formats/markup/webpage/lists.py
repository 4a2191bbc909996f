"""Lists of pages: boxes of tasks, letters and Roman numerals, terms, paragraphs that Word and Outlook made items."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.list_labels import Depths

FORM = re.compile(r"(?<![\w-])(lower|upper)-?(alpha|latin|roman)(?![\w-])", re.IGNORECASE)
"""A form of numbers in a style sheet, or a class for it as docutils and Asciidoctor write it."""
OFFICE_LEVEL = re.compile(r"mso-list:\s*l\d+\s+level(\d)", re.IGNORECASE)
OFFICE_SIGN = re.compile(r"mso-list:\s*ignore", re.IGNORECASE)
OFFICE_GAP = re.compile(r"font:\s*7\.0pt\s*[\"']?Times New Roman", re.IGNORECASE)
"""Of the blanks between sign and text, in files that Word saved filtered."""
OFFICE_MARGIN, OFFICE_INDENT = re.compile(r"margin-left:\s*(\d{1,3}(?:\.\d)?)pt", re.IGNORECASE), 36
TASKS = ".inline-task-list > li"
BOXES = {".checkbox-on": "[x] ", ".checkbox-off": "[ ] "}
VALUES = {
    ".elementor-price-list-title ~ .elementor-price-list-price": ": ",
    "[itemprop] + [itemprop]": " ",
    ".selected-value + .selected-value": ", ",
    ".creator ~ .crawler-post-infos": ", ",
}
"""Values of price lists, microdata, Notion and Discourse beside each other, and what divides them if no space does."""
AUTHORS = "blockquote cite"
"""Forums write the author of a quotation before it."""
MOST_BESIDE = 20
"""Nodes between two items that are looked at."""


def mark_tasks(root: LexborNode) -> None:
    """Write a box before the tasks of Confluence and Notion, whose classes say whether they are done."""
    for item in root.css(TASKS):
        if item.child is not None:
            is_done = "checked" in (item.attributes.get("class") or "").split()
            item.child.insert_before("[x] " if is_done else "[ ] ")
    for selector, box in BOXES.items():
        for node in root.css(selector):
            node.replace_with(box)


def divide_values(root: LexborNode) -> None:
    """Write white space or a comma between values that only the style of the page divides."""
    for selector, gap in VALUES.items():
        for node in root.css(selector):
            if node.prev is not None and node.prev.tag != "-text":
                node.insert_before(gap)
    for node in root.css(AUTHORS):
        node.insert_after(" ")


def number_form(node: LexborNode) -> str:
    """The form of the numbers of a list or of its item: "a", "A", "i", "I", or "" if it says none."""
    attributes = node.attributes
    if (attributes.get("type") or "") in {"a", "A", "i", "I"}:
        return attributes["type"] or ""
    if not (match := FORM.search(f"{attributes.get('style') or ''} {attributes.get('class') or ''}")):
        return ""
    form = "i" if match[2].lower() == "roman" else "a"
    return form.upper() if match[1].lower() == "upper" else form


def first_number(node: LexborNode) -> tuple[int, int]:
    """The number of the first item of an `ol`, and what is added for each next one."""
    attributes = node.attributes
    is_reversed = "reversed" in attributes
    default = sum(child.tag == "li" for child in node.iter()) if is_reversed else 1
    return whole_number(attributes.get("start"), default), -1 if is_reversed else 1


def whole_number(text: str | None, default: int) -> int:
    """A number of an attribute, or `default` if it is none."""
    text = text or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def office_item(paragraph: LexborNode, depths: Depths) -> tuple[int, str] | None:
    """The depth and the sign of a paragraph that is an item of a list in Word or Outlook, or None for others.

    Its sign is removed from the page.

    Args:
        depths: of the items before it.
    """
    level = _office_level(paragraph)
    if level is None:
        return None
    spans = paragraph.css("span[style]")
    sign = next((span for span in spans if OFFICE_SIGN.search(span.attributes.get("style") or "")), None)
    gap = next((span for span in spans if OFFICE_GAP.search(span.attributes.get("style") or "")), None)
    if sign is not None:
        text = sign.text()
        sign.decompose()
    elif gap is not None:
        text = _text_before(gap, paragraph)
    else:
        return None
    if not _follows_item(paragraph):
        depths.clear()
    return depths.depth(level), text


def _follows_item(paragraph: LexborNode) -> bool:
    """Whether the element before a paragraph is such an item, too."""
    before = paragraph.prev
    for _ in range(MOST_BESIDE):
        if before is None or before.tag not in {"-text", "-comment"}:
            break
        before = before.prev
    return before is not None and _office_level(before) is not None


def _office_level(node: LexborNode) -> int | None:
    """The level of an item; in files that Word saved filtered only the margin tells it."""
    style = node.attributes.get("style") or ""
    if match := OFFICE_LEVEL.search(style):
        return int(match[1])
    if not (node.attributes.get("class") or "").startswith("MsoListParagraph"):
        return None
    margin = OFFICE_MARGIN.search(style)
    return max(1, round(float(margin[1]) / OFFICE_INDENT)) if margin else 1


def _text_before(gap: LexborNode, paragraph: LexborNode) -> str:
    """The text of a paragraph before the gap, which is removed with it."""
    parts: list[LexborNode] = []
    for node in paragraph.traverse(include_text=True):
        if node.mem_id == gap.mem_id:
            break
        if node.tag == "-text":
            parts.append(node)
    text = "".join(node.text_content or "" for node in parts)
    for node in [*parts, gap]:
        node.decompose()
    return text


def definitions(node: LexborNode) -> list[tuple[list[LexborNode], list[LexborNode]]]:
    """The terms of each entry of a `dl` with their descriptions; a description without a term is an entry, too."""
    entries: list[tuple[list[LexborNode], list[LexborNode]]] = []
    for entry in (entry for child in node.iter() for entry in (child.iter() if child.tag == "div" else [child])):
        terms, descriptions = entries[-1] if entries else ([], [])
        if entry.tag == "dt":
            if not terms or descriptions:
                entries.append(([], []))
            entries[-1][0].append(entry)
        elif entry.tag == "dd":
            if not terms:
                entries.append(([], []))
            entries[-1][1].append(entry)
    return entries


def parts_of_term(entry: LexborNode) -> list[LexborNode]:
    """The terms of a `dt`: DocBook writes several into one, with nothing between them."""
    parts = [part for part in entry.iter() if "term" in (part.attributes.get("class") or "").split()]
    return parts if len(parts) > 1 else [entry]


def term_label(terms: list[str]) -> str:
    """The terms of an entry as the beginning of their description."""
    return f"**{', '.join(terms).rstrip(':').rstrip()}**: " if terms else ""
