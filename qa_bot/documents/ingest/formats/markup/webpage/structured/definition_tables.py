"""Tables of manuals that explain a button or a field in each row become lists of definitions.

They have no header cells; beside an icon or a term, a row has sentences, and lists or paragraphs among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.image_texts import image_text
from qa_bot.documents.ingest.formats.markup.webpage.structured.trees import inner_html, replace_by
from qa_bot.documents.ingest.formats.markup.webpage.tables import (
    filled,
    has_lines,
    is_layout,
    rows_of,
    span,
    styled_headers,
)

MOST_COLUMNS = 6  # with those that have no text
LONGEST_TERM = 100  # characters
FEWEST_WORDS, FEWEST_IN_SENTENCE = 8, 4
"""Of a cell that is prose, and of one that ends as a sentence does."""
LOWER_SHARE = 1 / 3  # of the words of prose; names, addresses and times have fewer
WORD = re.compile(r"[^\W\d_]{2,}")
STATEMENT_END = re.compile(r"(?<!\.)\.$")
SENTENCE_END = (".", "!", "?", "…")
_HELD = r"(?:ctrl|strg|control|alt|shift|umschalt|cmd|command|option|win|super|maj|[⌘⌃⌥⇧])"
SHORTCUT = re.compile(rf"(?:{_HELD}\s?[+-]?\s?)*(?:F\d{{1,2}}|[a-z]{{3,9}}|[^\W_]|[^\w\s])", re.IGNORECASE)
"""Keys pressed together, or one key."""
HEADERS = "th, thead"
ICONS = "img, picture, svg, i[class], span[class]"

Line = list[LexborNode | None]


@dataclass(slots=True)
class _Entry:
    """Terms and what explains them, of a row or of several that share a cell; `is_group`: one cell is a whole row."""

    terms: list[LexborNode]
    texts: list[LexborNode]
    is_group: bool = False


def list_definitions(root: LexborNode) -> None:
    """Replace the tables below the element that explain a term in each row by lists of definitions.

    If only one column has text, beside icons or empty cells, they become plain lists or blocks.
    """
    tables = root.css("table")
    layouts = {table.mem_id for table in tables if is_layout(table)}
    for table in reversed(tables):  # inner ones first
        is_arranged = table.mem_id in layouts
        is_list = table.css_first(HEADERS) is None and not (is_arranged and (is_layout(table) or not has_lines(table)))
        if is_list and (markup := _as_list(table)):
            captions = (child for child in table.iter() if child.tag == "caption")
            replace_by(table, f"{''.join(f'<p>{inner_html(caption)}</p>' for caption in captions)}{markup}")
        elif is_arranged:
            table.attrs["role"] = "presentation"  # also without the tables in it


def _as_list(table: LexborNode) -> str:
    """The list that replaces a table, or "" if it stays one."""
    rows = [row for row in rows_of(table) if row.cells]
    if not rows or styled_headers(rows):
        return ""
    cells = [cell for row in rows for cell in row.cells]
    numbers = {cell.mem_id: str(number) for number, cell in enumerate(cells)}
    places = filled(rows, lambda cell: numbers[cell.mem_id])
    width = max(map(len, places))
    if width > MOST_COLUMNS:
        return ""
    lines: list[Line] = [[cells[int(number)] if number else None for number in line] for line in places]
    body: list[Line] = []
    groups: list[int] = []
    for row, line in zip(rows, lines, strict=True):
        if len(row.cells) == 1 and span(row.cells[0], "colspan") >= width:
            groups.append(len(body))
        body.append([*line, *[None] * (width - len(line))])
    rest = [line for number, line in enumerate(body) if number not in groups]
    columns = [column for column in range(width) if any(_shows(line[column]) for line in rest)]
    if not columns or any(_has_wide_cell(line, columns) for line in rest):
        return ""
    entries = _entries(body, {*groups}, columns)
    if len(columns) == 1:
        has_icons = any(cell is not None and cell.css_first(ICONS) is not None for line in rest for cell in line)
        return _plain(entries, is_list=has_icons and len(rest) > 1)
    return _definitions(entries) if _are_definitions(entries, rest, columns) else ""


def _shows(cell: LexborNode | None) -> bool:
    return cell is not None and bool(_text(cell) or cell.css_first("input") is not None)


def _text(cell: LexborNode) -> str:
    """The text of a cell, or those of its images."""
    text = " ".join(cell.text().split())
    return text or " ".join(filter(None, map(image_text, cell.css("img"))))


def _has_wide_cell(line: Line, columns: Sequence[int]) -> bool:
    cells = [cell.mem_id for column in columns if (cell := line[column]) is not None]
    return len({*cells}) < len(cells)


def _entries(lines: Sequence[Line], groups: set[int], columns: Sequence[int]) -> list[_Entry]:
    entries: list[_Entry] = []
    for number, line in enumerate(lines):
        if number in groups:
            entries.append(_Entry([], [cell for cell in line if cell is not None], is_group=True))
            continue
        texts = [cell] if (cell := line[columns[-1]]) is not None and _shows(cell) else []
        entry = _Entry([cell for column in columns[:-1] if (cell := line[column]) is not None and _shows(cell)], texts)
        above = entries[-1] if entries and not entries[-1].is_group else None
        if above is not None and texts and _are_same(texts, above.texts[-1:]):
            above.terms += entry.terms
        elif above is not None and entry.terms and texts and _are_same(entry.terms, above.terms):
            above.texts += texts
        elif entry.terms or texts:
            entries.append(entry)
    return entries


def _are_same(cells: list[LexborNode], others: list[LexborNode]) -> bool:
    return [cell.mem_id for cell in cells] == [cell.mem_id for cell in others]


def _are_definitions(entries: Sequence[_Entry], lines: Sequence[Line], columns: Sequence[int]) -> bool:
    """Whether the cells of the last column explain the others: terms, and shortcuts beside them or beside icons."""
    if len(columns) > 3:
        return False
    if len(columns) == 3:
        keys = [_text(cell) for line in lines if (cell := line[columns[1]]) is not None]
        if not all(SHORTCUT.fullmatch(key) for key in keys if key):
            return False
    explained = [entry for entry in entries if not entry.is_group]
    terms = [_text(term) for entry in explained for term in entry.terms]
    if any(len(term) > LONGEST_TERM or STATEMENT_END.search(term) for term in terms):
        return False
    texts = [text for entry in explained for text in entry.texts]
    count = sum(_is_prose(_text(text)) for text in texts)
    if len(entries) == 1:
        return count > 0 and (not terms or _is_bold_cell(explained[0].terms[0]))
    return 2 * count > len(explained) or any(map(_has_blocks, texts))


def _is_prose(text: str) -> bool:
    words = WORD.findall(text)
    is_sentence = len(words) >= FEWEST_IN_SENTENCE and text.endswith(SENTENCE_END)
    is_lower = sum(word[0].islower() for word in words) >= LOWER_SHARE * len(words)
    return is_lower and (is_sentence or len(words) >= FEWEST_WORDS)


def _has_blocks(cell: LexborNode) -> bool:
    """Whether a cell has prose with a list, or several paragraphs of it."""
    if cell.css_first("li") is not None:
        return _is_prose(_text(cell))
    return sum(_is_prose(_text(paragraph)) for paragraph in cell.css("p")) > 1


def _is_bold_cell(cell: LexborNode) -> bool:
    """Whether all text of a cell is in bold type."""
    return cell.text().strip() == "".join(node.text() for node in cell.css("b, strong")).strip() != ""


def _definitions(entries: Sequence[_Entry]) -> str:
    """Lists of definitions; the names of groups are paragraphs between them, and head nothing below the table."""
    parts = [*_definition_parts(entries)]
    markup = "".join(parts)
    return f"<details>{markup}</details>" if any(entry.is_group for entry in entries) else markup


def _definition_parts(entries: Sequence[_Entry]) -> Iterator[str]:
    for entry in entries:
        texts = [inner_html(text) for text in entry.texts]
        if entry.is_group:
            yield "".join(f"<div>{text}</div>" for text in texts)
            continue
        terms = "".join(f"<dt>{inner_html(term)}</dt>" for term in entry.terms) or "<dt></dt>"
        yield f"<dl>{terms}{''.join(f'<dd>{text}</dd>' for text in texts)}</dl>"


def _plain(entries: Sequence[_Entry], *, is_list: bool) -> str:
    """The cells one after another, as items if `is_list`."""
    parts = (
        (entry.is_group or not is_list, inner_html(text)) for entry in entries for text in [*entry.terms, *entry.texts]
    )
    return "".join(f"<div>{text}</div>" if is_block else f"<ul><li>{text}</ul>" for is_block, text in parts)
