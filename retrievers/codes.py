"""Codes, options and identifiers in questions, which no other word can replace: "E19", "--max-file-size", "MAX_SIZE".

A code is letters, then digits, after capitals with a hyphen or a blank between them ("AW 12"); its spelling in a
passage may differ ("E 19"), as that of an identifier with underscores. An option of a command does not.
"""

from __future__ import annotations

import re

_OPTION = r"(?<![\w-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z])(?![\w-])"
_IDENTIFIER = r"\b[^\W\d_][^\W_]*+_\w*[^\W_]\b"
_CODE = re.compile(rf"{_OPTION}|{_IDENTIFIER}|\b(?:[^\W\d_]+|[A-Z]+-)\d\w*|\b[A-Z]{{2,4}} \d{{1,3}}(?![\w%]|[.,]\d)")
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"[^\W\d_]+|\d+")


def codes_in(text: str) -> frozenset[str]:
    """The codes and options of a text; a text in capitals has no words with a number apart."""
    codes = _CODE.findall(text)
    return frozenset(code for code in codes if " " not in code or not text.isupper())


def has_code(text: str, code: str) -> bool:
    """Whether a text has a code in some spelling, or an option unchanged."""
    if code.startswith("-"):
        return re.search(rf"(?<![\w-]){re.escape(code)}(?![\w-])", text) is not None
    spelt = r"[\W_]{0,2}".join(map(re.escape, _PIECE.findall(code)))
    return re.search(rf"(?<![^\W_]){spelt}(?:e?s)?(?![^\W_])", text, re.IGNORECASE) is not None


def parts_of(code: str) -> list[str]:
    """The words that a code consists of."""
    return _WORD.findall(code)
