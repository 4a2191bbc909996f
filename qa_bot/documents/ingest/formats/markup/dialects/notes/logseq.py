"""Marks of Logseq: properties of pages and blocks, its drawers, and blocks of Org mode."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.formats.markup.dialects.containers import bold_title
from qa_bot.documents.ingest.formats.markup.dialects.fences import lines_of

PROPERTY = re.compile(r"([\s>]*)((?:[-*][ \t]+)?)([^\W\d_][\w./ -]{0,60})::(?:[ \t]+(.*))?")
_PROGRAM = (
    "background-color collapsed created-at exclude-from-graph-visibility filters heading icon id ls-type public "
    "query-properties query-sort-by query-sort-desc query-table template template-including-parent updated-at"
)
PROGRAM = frozenset(_PROGRAM.split())
"""Properties that the program writes for itself."""
PROGRAM_FAMILIES = ("logseq.", "card-", "hl-")
PAGE = {"title", "tags"}
"""Properties at the top of a page that its record has."""
DRAWER = re.compile(r"^[ \t]*:LOGBOOK:[ \t]*\n(?:.*\n){0,200}?[ \t]*:END:[ \t]*\n?", re.MULTILINE)
BLOCK = re.compile(r"([\s>]*)((?:[-*][ \t]+)?)#\+(BEGIN|END)_([A-Z]+)[ \t]*(.*)", re.IGNORECASE)
CODE_BLOCKS = {"src", "example"}
ADMONITIONS = {"note", "tip", "important", "caution", "warning", "pinned"}
PLAIN_BLOCKS = {"quote", "center", "verse"}
REFERENCE = re.compile(r"[ \t]?\(\([\da-f]{8}-[\da-f-]{27}\)\)")
SIGNS = (":: ", "::\n", "#+", ":LOGBOOK:", "((")


def without_properties(source: str) -> str:
    """The source without properties of the program; those of people are lines, blocks of Org mode are Markdown."""
    if not any(sign in source for sign in SIGNS):
        return source
    if ":LOGBOOK:" in source:
        source = DRAWER.sub("", source)
    return "\n".join(_lines(source))


def _lines(source: str) -> Iterator[str]:
    is_top, is_below_property = True, False
    for is_code, line in lines_of(source):
        block = None if is_code or "#+" not in line else BLOCK.fullmatch(line)
        match = None if is_code or "::" not in line else PROPERTY.fullmatch(line)
        if block:
            yield _block_line(block)
        elif match is None:
            yield line if is_code else REFERENCE.sub("", line)
        elif match[3] in PROGRAM or match[3].startswith(PROGRAM_FAMILIES) or (is_top and match[3] in PAGE):
            yield from (match[1] + match[2],) if match[2] else ()
            continue
        elif match[4]:
            yield from () if match[2] or is_below_property or is_top else (match[1].rstrip(" \t"),)
            yield f"{match[1]}{match[2]}{match[3]}: {match[4]}"
        else:
            yield line
        is_top = is_top and (match is not None or not line.strip())
        is_below_property = match is not None


def _block_line(block: re.Match[str]) -> str:
    """The line in place of one that begins or ends a block of Org mode; unknown blocks keep it."""
    before, item, sign, name = block[1], block[2], block[3].lower(), block[4].lower()
    if name in CODE_BLOCKS:
        return f"{before}{item}```{block[5] if sign == 'begin' else ''}"
    if name in PLAIN_BLOCKS:
        return f"{before}{item}"
    if name not in ADMONITIONS:
        return block[0]
    if item:
        return f"{before}{item}{bold_title(name.capitalize())} "
    return f"{before}::: {name}" if sign == "begin" else f"{before}:::"
