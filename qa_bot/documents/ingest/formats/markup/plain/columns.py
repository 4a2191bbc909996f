"""Lines of a name and its value, which blanks put into two columns: opening hours, prices, meanings of signs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.table_shape import is_header

FEWEST = 2  # lines
LINE = re.compile(r"""(\s*)([^\W_](?:(?! {2}|\t)[^{}<>\\|=`$;\[\]*"])*?):?( {2,}|(?<=:) )(\S(?:(?! {2}|\t).)*)""")
"""A name without signs of code, a gap, and a value without one."""
DASH = re.compile(r"\A[-–—=] +(?=\S)")
LONGEST_NAME, LONGEST_HEAD = 40, 60  # characters
ALIGNED_SHARE, NEAR = 0.8, 2
PAGE_WIDTH = 65
"""The head of a letter or a note has texts at both edges of the page, which do not belong together."""


def write_columns(writer: MarkdownWriter, lines: Sequence[str]) -> bool:
    """Write lines of two columns as items or, if the first names the columns, as a table; others do not count.

    A line above may head them.
    """
    if any("\t" in line for line in lines) and all("\t" in line for line in lines):
        return False
    head = lines[0].strip() if len(lines) > FEWEST and not LINE.fullmatch(lines[0].rstrip()) else ""
    pairs = [LINE.fullmatch(line.rstrip()) for line in lines[bool(head) :]]
    parts = [pair for pair in pairs if pair and len(pair[2]) <= LONGEST_NAME and pair[2][-1] not in ".!?,"]
    fewest = FEWEST if all(pair and pair[2] + ":" in pair[0] for pair in pairs) else FEWEST + 1
    if len(parts) < max(fewest, len(pairs)) or not _are_aligned(parts) or not _may_head(head):
        return False
    above = writer.headed
    if head:
        writer.paragraph(head if head.endswith(":") else f"**{head}**")
    rows = [[part[2].rstrip(), DASH.sub("", part[4])] for part in parts]
    has_colons = any(f"{part[2]}:" in part[0] for part in parts)
    has_header = (
        is_header(rows) and not has_colons and not _has_digit(rows[0]) and sum(map(_has_digit, rows)) * 2 > len(rows)
    )
    if has_header:
        writer.table(rows)
    for name, value in [] if has_header else rows:
        writer.item(f"{name}: {value}")
    writer.end_headings(above)
    return True


def _are_aligned(parts: Sequence[re.Match[str]]) -> bool:
    """Whether the names begin at one place, and most values begin or end at one."""
    if len({len(part[1]) for part in parts}) > 1 or not any(len(part[3]) > 1 for part in parts):
        return False
    starts, ends = [part.start(4) for part in parts], [part.end(4) for part in parts]
    if _share(starts, 0) >= ALIGNED_SHARE:
        return True
    if _share(ends, 0) >= ALIGNED_SHARE:
        return max(ends) < PAGE_WIDTH
    return len(parts) > FEWEST and _share(starts, NEAR) >= ALIGNED_SHARE


def _share(places: Sequence[int], distance: int) -> float:
    """The share of the places near the one that most of them have."""
    place = max(places, key=places.count)
    return sum(abs(other - place) <= distance for other in places) / len(places)


def _has_digit(cells: Sequence[str]) -> bool:
    return any(map(str.isdigit, "".join(cells)))


def _may_head(head: str) -> bool:
    return not head or (len(head) <= LONGEST_HEAD and head[0].isupper() and head[-1] not in ".,;!" and "  " not in head)
