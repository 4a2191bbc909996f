"""Tables whose columns only blanks align below a header and a line of dashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

DASHES = re.compile(r"\s*[-=─]{3,}(?:[ +|┼]*[-=─]{2,})*\s*")
GROUP = re.compile(r"[-=─]{2,}")
GAP = 2  # blanks between columns that one line of dashes goes through
FILLED_SHARE, DIVIDED_SHARE = 0.6, 0.2
DIVIDERS = "+|┼"


def aligned_rows(lines: Sequence[str]) -> list[list[str]]:
    """The header and the rows of a table of lines; [] if they are none.

    Groups of dashes say where the columns begin, or signs between them. Below one line of dashes all rows have
    blanks between two columns. A line of dashes may also be above the header and below the rows.
    """
    lines = [line.expandtabs(8) for line in lines]
    while lines and DASHES.fullmatch(lines[0]):
        lines = lines[1:]
    while lines and DASHES.fullmatch(lines[-1]):
        lines = lines[:-1]
    if len(lines) < 3 or not DASHES.fullmatch(lines[1]) or any(map(DASHES.fullmatch, lines[2:])):
        return []
    header, dashes, *body = lines
    texts = [header, *body]
    if any(sign in dashes for sign in DIVIDERS):
        rows = [[cell.strip() for cell in re.split(r"[|│]", line)] for line in texts]
    else:
        groups = [match.start() for match in GROUP.finditer(dashes)]
        rows = _cut(texts, groups) if len(groups) > 1 else _cut(texts, _starts(texts))
    return _joined(rows) if _is_table(rows) else []


def _joined(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows, with lines that go on cells of the row above joined to them: they begin with small letters."""
    joined: list[list[str]] = []
    for row in rows:
        if joined and not row[0] and all(cell[:1].islower() for cell in row if cell):
            joined[-1] = [f"{above} {cell}".strip() for above, cell in zip(joined[-1], row, strict=True)]
        else:
            joined.append(list(row))
    return joined


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all columns have names, most rows a first cell and another one, and few cells two texts.

    The text below a heading whose number is apart ("1   Minutes") has no first cells.
    """
    if not rows or len(rows[0]) < 2 or not all(rows[0]) or {len(row) for row in rows} != {len(rows[0])}:
        return False
    filled = sum(bool(row[0]) and any(row[1:]) for row in rows[1:])
    divided = sum("  " in cell for row in rows for cell in row)
    return filled >= FILLED_SHARE * len(rows[1:]) and divided <= DIVIDED_SHARE * len(rows)


def _starts(lines: Sequence[str]) -> list[int]:
    """Where the columns begin that blanks divide in all lines."""
    width = max(map(len, lines))
    blank = [all(line[place : place + 1].strip() == "" for line in lines) for place in range(width)]
    starts = [0]
    for place in range(GAP, width):
        if not blank[place] and all(blank[place - GAP : place]) and not all(blank[:place]):
            starts.append(place)
    return starts


def _cut(lines: Sequence[str], starts: Sequence[int]) -> list[list[str]]:
    """The cells of each line; [] if a word goes over the begin of a column."""
    bounds = [0, *starts[1:], None]
    rows: list[list[str]] = []
    for line in lines:
        if any(line[start - 1 : start].strip() and line[start : start + 1].strip() for start in starts[1:]):
            return []
        rows.append([line[begin:end].strip() for begin, end in pairwise(bounds)])
    return rows
