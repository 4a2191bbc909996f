"""Listings of options in blocks of code, as programs print them for `--help`, become lists of terms.

An option is then found, read and shown alone: “-t TIME, --time=TIME: total length in minutes”. As code the listing
is one unit, of which the answer shows the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LEAST = 3
"""Options of a listing."""
EXPLAINED = 2 / 3
"""Share of them that must have an explanation: the lines of one long command have none."""

_FENCE = re.compile(r"( *)(`{3,})[^`]*")
_OPTION = r"-{1,2}[A-Za-z?][\w-]*+(?:(?:=|\[=?| )(?:[^\s,/]|/(?!--?[A-Za-z?]))++)?"
"""A value ends at a slash before an option, so that a line is read in one way, and not in two for each slash."""
_ENTRY = re.compile(rf"(\s*)({_OPTION}(?:(?:, ?| +\| +|/){_OPTION})*)(?:\s{{2,}}(\S.*))?")
_LONG = re.compile(r"(?<![\w-])--[A-Za-z]")
_SIGNS = re.compile(r"[<*_`\\]")


def with_option_lists(markdown: str) -> str:
    """The text with a list in place of each listing of options; lines above the first option stay code."""
    if "--" not in markdown or "```" not in markdown:
        return markdown
    lines = markdown.split("\n")
    written: list[str] = []
    position = 0
    while position < len(lines):
        opening = _FENCE.fullmatch(lines[position])
        end = _end(lines, position, opening[2]) if opening else position
        block = lines[position : end + 1]
        written += block if opening is None else _listed(block, *opening.groups())
        position = end + 1
    return "\n".join(written)


def _end(lines: Sequence[str], start: int, fence: str) -> int:
    """The number of the line that closes a fence, or of the last line."""
    closing = (number for number in range(start + 1, len(lines)) if lines[number].strip() == fence)
    return next(closing, len(lines) - 1)


def _listed(block: Sequence[str], indent: str, fence: str) -> Sequence[str]:
    """The lines of a block of code, as a list if it is a listing of options."""
    lines = block[1:-1]
    first = next((number for number, line in enumerate(lines) if _ENTRY.fullmatch(line.rstrip())), len(lines))
    entries = _entries(lines[first:])
    is_listing = (
        len(entries) >= LEAST
        and sum(bool(words) for _, words in entries) >= EXPLAINED * len(entries)
        and any(_LONG.search(term) for term, _ in entries)
    )
    if not is_listing:
        return block
    above = "\n".join(lines[:first]).strip("\n")
    code = [f"{indent}{fence}", above, f"{indent}{fence}", ""] if above.strip() else []
    return [*code, *(f"{indent}- **{_term(term)}**: {words}".rstrip() for term, words in entries)]


def _entries(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Each option with its explanation, whose further lines are indented more; [] if a line is neither."""
    entries: list[tuple[str, str]] = []
    indent = 0
    for line in map(str.rstrip, lines):
        match = _ENTRY.fullmatch(line)
        if match and (not entries or len(match[1]) <= indent + 4):
            entries.append((match[2], match[3] or ""))
            indent = len(match[1])
        elif line and len(line) - len(line.lstrip()) > indent and entries:
            term, words = entries[-1]
            entries[-1] = (term, f"{words} {line.strip()}".strip())
        elif line and not line.endswith(":"):  # a line with a colon heads the next options
            return []
    return entries


def _term(term: str) -> str:
    return f"`{term}`" if _SIGNS.search(term) else term
