"""Lists whose entries dots lead to their values, as of prices and offices, with the short lines that head them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

LEADERS = re.compile(r"(?<=[^\s.]) *+(?:\.{4,}+|(?:\. ){4,}+\.?+|…{2,}+) *+(?=\S)")
ITEM = re.compile(r"\s*(?:[-*•·‣▪◦–—+]|\d{1,3}[.)]|\(?[a-z][.)])\s")
LONGEST_HEAD = 60  # characters


def write_leaders(writer: MarkdownWriter, lines: Sequence[str]) -> bool:
    """Write a list of which most lines have leaders; others do not count."""
    led = sum(LEADERS.search(line) is not None for line in lines)
    if led < 2 or 2 * led <= len(lines) or any(map(ITEM.match, lines)):
        return False
    above = writer.headed
    for is_head, line in _entries(lines):
        if not is_head:
            writer.item(" ".join(LEADERS.sub(": ", line).split()))
        elif line.endswith(":"):
            writer.paragraph(line)
        else:
            writer.paragraph(f"**{line}**")
    writer.end_headings(above)
    return True


def _entries(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """The heads and the entries; the beginning of an entry that is two lines long is before its dots."""
    begun = ""
    for line, following in pairwise(chain(lines, [""])):
        if LEADERS.search(line):
            yield False, f"{begun} {line.strip()}".strip()
            begun = ""
        elif begun or not LEADERS.search(following):
            yield from ((False, begun),) if begun else ()
            yield False, line
            begun = ""
        elif _is_head(line, following):
            yield True, " ".join(line.split())
        elif _goes_on(line, following):
            begun = line.strip()
        else:
            yield False, line


def _goes_on(line: str, following: str) -> bool:
    """Whether an entry goes on at the next line."""
    is_deeper = len(following) - len(following.lstrip()) > len(line) - len(line.lstrip())
    return is_deeper or following.lstrip()[0].islower()


def _is_head(line: str, following: str) -> bool:
    text = line.strip()
    is_title = (
        (text[0].isupper() or text.endswith(":"))
        and len(text) <= LONGEST_HEAD
        and text[-1] not in ".,;–-("
        and "*" not in text
    )
    return is_title and not following.lstrip()[0].islower()
