"""Headings without a space behind their signs or directly below a tag, and lists that are indented like code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

GLUED_HEADING = re.compile(
    r"^([ \t]*)(?:(#{2,6})(?=[^\W_]|[*`\"'(])"
    r"|(?:(?<=\n\n)|(?<![\s\S]))(#)(?=[^\W\d_][^#\n]* [^#\n]*(?:\n\s*\n|\n?\Z)))",
    re.MULTILINE,
)
"""In code two signs begin a comment, which the space does not harm. One sign alone also begins a hashtag, so it needs a
paragraph of several words with a capital letter first."""
HEADING_BELOW_TAG = re.compile(r"^([ \t]*<[^\n]*>[ \t]*\n)(?=[ \t]*#{1,6}[ \t]+\S)", re.MULTILINE)
"""In CommonMark it would be a part of the HTML."""
ITEM = re.compile(r" *(?:[-*+•]|\d{1,9}[.)])[ \t]+\S")
LISTED = re.compile(r"(?:[*•]|\d{1,2}[.)])[ \t]+[^\W_]")
"""An item of prose; lists of YAML in code have hyphens."""
INDENTED_ITEM = re.compile(r"\n(?: {4}|\t)\s*(?:[*•]|\d{1,2}[.)])[ \t]")
CODE_INDENT = 4


def with_marks_mended(text: str) -> str:
    """Prose whose headings and lists are those of CommonMark."""
    if "#" in text:
        text = GLUED_HEADING.sub(_with_space, text)
        if "<" in text and "<pre" not in text:
            text = HEADING_BELOW_TAG.sub(r"\1\n", text)
    if INDENTED_ITEM.search(text):
        return "\n".join(_with_lists(text.split("\n")))
    return text


def _with_space(match: re.Match[str]) -> str:
    is_hashtag = match[3] and not match.string[match.end()].isupper()
    return match[0] if is_hashtag else f"{match[0]} "


def _with_lists(lines: Sequence[str]) -> Iterator[str]:
    """The lines; indented items below a paragraph that belongs to no list are moved to its left."""
    position, is_below_text, is_after_gap = 0, False, True
    while position < len(lines):
        line = lines[position]
        end = _indented_end(lines, position) if is_below_text and is_after_gap else position
        block = [line.expandtabs(4) for line in lines[position:end]]
        if block and _is_list(block):
            base = _indent(block[0])
            yield from (line[base:] for line in block)
            position, is_after_gap = end, True
            continue
        if line.strip() and _indent(line.expandtabs(4)) < CODE_INDENT:
            is_item = ITEM.match(line) is not None
            begins_text = line.startswith("#") or (is_after_gap and not line.startswith(" "))
            is_below_text = not is_item and (is_below_text or begins_text)
        is_after_gap = not line.strip()
        yield line
        position += 1


def _indented_end(lines: Sequence[str], start: int) -> int:
    """The end of the block of code that begins at a line; `start` if none does."""
    end = start
    for position in range(start, len(lines)):
        line = lines[position]
        if line.strip():
            if _indent(line.expandtabs(4)) < CODE_INDENT:
                break
            end = position + 1
    return end


def _is_list(block: Sequence[str]) -> bool:
    base = _indent(block[0])
    indents = [(_indent(line), line) for line in block if line.strip()]
    return all(indent >= base for indent, _ in indents) and all(
        LISTED.match(line, base) is not None for indent, line in indents if indent == base
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
