"""Codes and options in questions, which no other word can replace: "E19", "SEV4", "-t", "--max-file-size".

A code is letters, then digits; its spelling in a passage may differ ("E 19"). An option of a command does not.
"""

from __future__ import annotations

import re

_OPTION = r"(?<![\w-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z])(?![\w-])"
_CODE = re.compile(rf"{_OPTION}|\b[^\W\d_]+\d\w*")
_WORD = re.compile(r"\w+")
_JOIN = re.compile(r"[\W_]+")


def codes_in(text: str) -> frozenset[str]:
    """The codes and options of a text."""
    return frozenset(_CODE.findall(text))


def has_code(text: str, code: str) -> bool:
    """Whether a text has a code in some spelling, or an option unchanged."""
    if code.startswith("-"):
        return re.search(rf"(?<![\w-]){re.escape(code)}(?![\w-])", text) is not None
    return code.casefold() in _JOIN.sub("", text.casefold())


def parts_of(code: str) -> list[str]:
    """The words that a code consists of."""
    return _WORD.findall(code)
