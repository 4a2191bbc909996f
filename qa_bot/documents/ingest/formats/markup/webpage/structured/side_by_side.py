"""Columns of short lines beside each other, as of labels and prices, are written row by row."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.structured.trees import inner_html, levels_below, replace_by

LONGEST_LINE, LONGEST_TITLE = 100, 80  # characters
DEEPEST = 4  # elements around the lines of a column, and around the columns below a title
COLUMNS = (2, 3)
CONTAINERS = "div, section, article, li, td"
COLUMN_TAGS = frozenset(["div", "section", "article", "p", "ul", "span"])
LINE_TAGS = frozenset(["p", "div", "li", "span"])
_INLINE = "-text a abbr b bdi bdo br em font i ins mark nobr s small span strong sub sup time u wbr"
INLINE = frozenset(_INLINE.split())
NOTES = frozenset(["small", "em", "i"])
_WORDS = (
    "€ EUR Euro Euros $ USD £ GBP ¥ CHF Fr ct Cent Cents % Uhr h o'clock am pm min Std m cm mm km kg g l "
    "ab bis von und from to until till and à de"
)
VALUE_PART = re.compile(
    rf"[\d\s.,:;/'’+–—*()&-]+|(?:{'|'.join(map(re.escape, _WORDS.split()))})(?![^\W\d_])", re.IGNORECASE
)
"""Of an amount, a time or a number."""
PHONE = re.compile(r"(?<!\d)0\d{2}|\d{6}")
_FREE = "frei freier eintritt kostenlos kostenfrei gratis geschlossen free closed gratuit gratuite fermé - – —"
FREE = frozenset(_FREE.split())
TITLE_CLASS = re.compile(r"(?:^|[\s_-])(?:title|titel|heading|headline|header|caption)(?=$|[\s_-])", re.IGNORECASE)
SENTENCE_END = (".", ";", ",", "!", "?", ":")


def join_columns(root: LexborNode) -> None:
    """Write columns below the element as rows: two as the items of a list, three as a table, cells as rows of theirs.

    A short element alone before them becomes their heading.
    """
    for row in root.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in {"td", "th"}]
        is_plain = all(cell.tag == "td" and {"rowspan", "colspan"}.isdisjoint(cell.attributes) for cell in cells)
        if is_plain and (lines := _rows(cells)):
            for line in LexborHTMLParser(_table(lines)).css("tr"):
                row.insert_before(line)
            row.decompose()
    titles: list[LexborNode] = []
    for container in reversed(root.css(CONTAINERS)):  # inner ones first
        columns = _children(container)
        if all(column.tag in COLUMN_TAGS for column in columns) and (lines := _rows(columns)):
            for column in columns[1:]:
                column.decompose()
            replace_by(columns[0], _table(lines) if len(columns) > 2 else _items(lines))
            title = _title(container)
            titles += [title] if title is not None else []
    if titles:
        _write_headings(root, titles)


def _children(node: LexborNode) -> list[LexborNode]:
    """What is in an element, without white space and comments."""
    return [child for child in node.iter(include_text=True) if not _is_blank(child)]


def _is_blank(node: LexborNode) -> bool:
    return node.tag == "-comment" or (node.tag == "-text" and not (node.text_content or "").strip())


def _rows(columns: Sequence[LexborNode]) -> list[list[str]]:
    """The lines of columns, row by row; [] if the first has no labels, or another one not a line for each of them."""
    if len(columns) not in COLUMNS:
        return []
    first, *others = (_lines(column) for column in columns)
    count = len(first)
    if count < 2 or any(len(other) != count for other in others):
        return []
    texts = [text for text, _ in first]
    values = [text for other in others for text, _ in other]
    are_labels = all(text.endswith(":") for text in texts) and not any(text.endswith(":") for text in values)
    if not are_labels and (any(map(_is_value, texts)) or not all(map(_is_value, values))):
        return []
    labels = [f"{text.removesuffix(':').rstrip()} {note}".rstrip() for text, note in first]
    joined = ([f"{text} {note}".rstrip() for text, note in other] for other in others)
    return [[*row] for row in zip(labels, *joined, strict=True)]


def _is_value(text: str) -> bool:
    """Whether a line is an amount, a time or a number, or a word in place of one: "free", "closed"."""
    if all(word in FREE for word in text.casefold().split()):
        return True
    has_digit = any(sign.isdigit() for sign in text)
    return has_digit and PHONE.search(text) is None and not VALUE_PART.sub("", text)


def _lines(column: LexborNode, depth: int = 0) -> list[tuple[str, str]]:
    """The lines of a column with the notes below them; [] if it has other text."""
    children = _children(column)
    if len(children) == 1 and children[0].tag in COLUMN_TAGS and depth < DEEPEST:
        return _lines(children[0], depth + 1)
    if len(children) > 1 and all(child.tag in LINE_TAGS for child in children):
        parts = [_lines_of_text(_children(child)) for child in children]
        return [line for part in parts for line in part] if all(parts) else []
    return _lines_of_text(children)


def _lines_of_text(children: Sequence[LexborNode]) -> list[tuple[str, str]]:
    """Inline text divided by line breaks; what is small, slanted or in brackets below a line is a note."""
    pieces: list[list[LexborNode]] = [[]]
    for child in children:
        if not all(node.tag in INLINE for node in child.traverse(include_text=True)):
            return []
        if child.tag == "br":
            pieces.append([])
        else:
            pieces[-1].append(child)
    lines: list[tuple[str, str]] = []
    for piece in filter(None, pieces):
        text = " ".join("".join(node.text() for node in piece).split())
        if not text or len(text) > LONGEST_LINE:
            return []
        if lines and (text[0] == "(" or all(node.tag in NOTES for node in piece)):
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {text}".lstrip())
        else:
            lines.append((text, ""))
    return lines


def _items(rows: Sequence[Sequence[str]]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in map(': '.join, rows))}</ul>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _title(container: LexborNode) -> LexborNode | None:
    """The short element before a container or what has nothing else in it, if it heads it."""
    node = container
    for _ in range(DEEPEST):
        before = _before(node)
        if before is not None:
            return before if _is_title(before) else None
        if node.parent is None or node.parent.tag not in COLUMN_TAGS:
            return None
        node = node.parent
    return None


def _before(node: LexborNode) -> LexborNode | None:
    """What stands before an element, without white space and comments."""
    before = node.prev
    while before is not None and _is_blank(before):
        before = before.prev
    return before


def _is_title(node: LexborNode) -> bool:
    has_class = TITLE_CLASS.search(node.attributes.get("class") or "") is not None
    if node.tag not in {"div", "p", "span"} or not all(one.tag in INLINE for one in node.css("*")[1:]):
        return False
    text = node.text().strip()
    is_alone = has_class or (node.tag == "div" and _before(node) is None)
    return is_alone and 0 < len(text) <= LONGEST_TITLE and not text.endswith(SENTENCE_END) and not _is_value(text)


def _write_headings(root: LexborNode, titles: Sequence[LexborNode]) -> None:
    """Make headings of the titles, one level below those above them."""
    numbers = {title.mem_id for title in titles}
    for title, below in levels_below(root, lambda node: node.mem_id in numbers):
        replace_by(title, f"<h{below}>{inner_html(title)}</h{below}>")
