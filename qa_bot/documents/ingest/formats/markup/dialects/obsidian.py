"""Marks of Obsidian: comments, names of blocks and marked text."""

from __future__ import annotations

import re

SIGNS = ("%%", "==", "^")
_UNCHANGED = r"``[^\n]+?``|`[^`\n]+`|\$\$(?:(?!\$\$)[\s\S]){1,2000}\$\$|\$(?![\s$])[^$\n]{1,500}(?<!\s)\$(?!\d)"
"""Code and formulas."""
_COMMENT = r"^[ \t>]*%%(?:(?!%%)[\s\S])*%%[ \t]*$|(?<![\w%])%%(?!%)[^%\n]+%%(?![\w%])"
_BLOCK_NAME = r"(?:^|(?<![ \t])[ \t]+)\^(?=[\d-]*[A-Za-z])[A-Za-z\d-]{2,60}[ \t]*$"
_MARKED = r"(?<![=\w])==(?=[^\s=])((?:`[^`\n]+`|[^=\n`])+)(?<=[^\s=])==(?![=\w])"
_ANY = re.compile(rf"({_UNCHANGED})|{_COMMENT}|{_BLOCK_NAME}|{_MARKED}", re.MULTILINE)


def without_marks(text: str) -> str:
    """Prose without comments and names of blocks, and with marked text as other text."""
    if not any(sign in text for sign in SIGNS):
        return text
    return _ANY.sub(lambda match: match[1] or match[2] or "", text)
