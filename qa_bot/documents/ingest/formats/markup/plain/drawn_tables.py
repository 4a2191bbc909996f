"""Tables that signs draw, as Pandoc and reStructuredText have them, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from qa_bot.documents.ingest.formats.markup.plain.aligned import aligned_rows

BORDER = re.compile(r"\+(?::?[-=]{2,}:?\+){1,60}")
SIMPLE = re.compile(r"(?:\A|(?<=\n\n))[ ]{0,3}\S[^\n]*\n[ ]{0,3}-{2,}(?: +-{2,})+ *\n(?:[^\n]+(?:\n|\Z))+")
"""A header, a line with groups of dashes, and rows."""
GRID = re.compile(r"(?:\A|(?<=\n))\+(?::?-{2,}:?\+)+ *\n(?:[+|][^\n]*[+|] *(?:\n|\Z))+")
CAPTION = re.compile(r"\n?(?:Table:|:)[ \t]+([^\n]+?)[ \t]*(?:\{[^{}\n]*\})?[ \t]*(?:\n|\Z)")
ITEM = re.compile(r"\A[-*+] ")


def with_drawn_tables(text: str) -> str:
    """Prose with tables of Markdown in place of drawn ones; captions below them are put above."""
    if "\n+-" in f"\n{text}":
        text = _replaced(text, GRID)
    return _replaced(text, SIMPLE) if "-- " in text and "--\n" in text.replace("-- \n", "--\n") else text


def _replaced(text: str, form: re.Pattern[str]) -> str:
    parts: list[str] = []
    end = 0
    for match in form.finditer(text):
        lines = match[0].strip("\n").split("\n")
        rows = grid_rows(lines) if form is GRID else aligned_rows(lines)
        if match.start() < end or not rows:
            continue
        caption = CAPTION.match(text, match.end())
        parts += [text[end : match.start()], "\n", f"{caption[1]}\n\n" if caption else "", _table(rows), "\n"]
        end = caption.end() if caption else match.end()
    return "".join([*parts, text[end:]])


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:], ""])


def grid_rows(lines: Sequence[str]) -> list[list[str]]:
    """The rows of a grid whose cells are not merged, the lines of a cell joined; the first is the header.

    A grid without a header has an empty one. In the listing of a database each line below the header is a row. It is []
    for others, and for a box of one cell in each row.
    """
    lines = [line.rstrip() for line in lines]
    if len(lines) < 3 or not BORDER.fullmatch(lines[0]) or not BORDER.fullmatch(lines[-1]):
        return []
    places = [place for place, sign in enumerate(lines[0]) if sign == "+"]
    if len(places) < 3:
        return []
    borders = [number for number, line in enumerate(lines) if BORDER.fullmatch(line)]
    is_listing = borders == [0, 2, len(lines) - 1] and "=" not in lines[2]
    rows: list[list[str]] = []
    has_header, is_begun = is_listing, False
    for line in lines:
        if [place for place, sign in enumerate(line) if sign in "+|" and place in places] != places:
            return []
        if BORDER.fullmatch(line):
            has_header = has_header or (len(rows) == 1 and "=" in line)
            is_begun = False
            continue
        cells = [line[left + 1 : right].strip() for left, right in pairwise(places)]
        if is_begun:
            rows[-1] = [_joined(above, cell) for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
        is_begun = not is_listing
    return rows if has_header or not rows else [[""] * len(rows[0]), *rows]


def _joined(above: str, cell: str) -> str:
    """The text of a cell with its next line; items of a list are divided by semicolons."""
    if not above or not cell:
        return above or cell
    return f"{ITEM.sub('', above, 1)}; {ITEM.sub('', cell, 1)}" if ITEM.match(cell) else f"{above} {cell}"
