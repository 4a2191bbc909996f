"""Fenced code in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})([^\n]*)$")


def opening_fence(line: str) -> str:
    """The signs with which a line begins code; "" if it begins none."""
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    return match[1] if match and not (match[1][0] == "`" and "`" in match[2]) else ""


def closes(line: str, fence: str) -> bool:
    """Whether a line ends the code that a fence began."""
    match = _FENCE.match(line) if fence in line else None
    return match is not None and match[1].startswith(fence) and not match[2].strip()


def lines_of(source: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it belongs to a fenced code block."""
    fence = ""
    for line in source.split("\n"):
        if fence:
            yield True, line
            fence = "" if closes(line, fence) else fence
        else:
            fence = opening_fence(line)
            yield bool(fence), line
