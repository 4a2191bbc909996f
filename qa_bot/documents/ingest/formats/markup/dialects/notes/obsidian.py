"""Marks of Obsidian: comments, names of blocks, marked text, fields and notes in brackets, and queries."""

from __future__ import annotations

import re

SIGNS = ("%%", "==", "^", "::")
_UNCHANGED = r"``[^\n]+?``|`[^`\n]+`|\$\$(?:(?!\$\$)[\s\S]){1,2000}\$\$|\$(?![\s$])[^$\n]{1,500}(?<!\s)\$(?!\d)"
"""Code and formulas."""
_COMMENT = r"^[ \t>]*%%(?:(?!%%)[\s\S])*%%[ \t]*$|(?<![\w%])%%(?!%)[^%\n]+%%(?![\w%])"
_BLOCK_NAME = r"(?:^|(?<![ \t])[ \t]+)\^(?=[\d-]*[A-Za-z])[A-Za-z\d-]{2,60}[ \t]*$"
_MARKED = r"(?<![=\w])==(?=[^\s=])((?:`[^`\n]+`|[^=\n`])+)(?<=[^\s=])==(?![=\w])"
_FIELD = r"[\[(]([^\W\d_][\w -]{0,40})::[ \t]+([^\[\]()\n]{1,200})[\])]"
_NOTE = r"[ \t]?(?<!\w)\^\[([^\[\]\n]{1,500})\]|(?<=[\w.,;:!?)])\^\[([^\[\]\n]{1,500})\]"
"""In the text instead of below it, as Pandoc has it, too."""
_ANY = re.compile(rf"({_UNCHANGED})|{_COMMENT}|{_BLOCK_NAME}|{_MARKED}|{_FIELD}|{_NOTE}", re.MULTILINE)
_QUERY = re.compile(
    r"^([ \t]*)(`{3,}|~{3,})(?:dataview|dataviewjs|tasks|query)[ \t]*\n(?:(?!\1\2).*\n)*?\1\2[`~]*[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)


def without_marks(text: str) -> str:
    """Prose without comments and names of blocks, and with marked text as other text."""
    if not any(sign in text for sign in SIGNS):
        return text
    return _ANY.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    if match[3]:
        return f"{match[3]}: {match[4]}"
    if note := match[5] or match[6]:
        return f" ({note})"
    return match[1] or match[2] or ""


def without_queries(source: str) -> str:
    """The source without queries, which the program replaces by what it finds."""
    return _QUERY.sub("", source) if "```" in source or "~~~" in source else source
