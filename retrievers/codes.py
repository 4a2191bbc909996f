"""Codes, options and identifiers in questions, which no other word can replace: "E19", "--max-file-size", "MAX_SIZE".

A code is letters, then digits, after capitals with a hyphen or a blank between them ("AW 12"); its spelling in a
passage may differ ("E 19"), as that of an identifier with underscores. An option of a command does not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from qa_core.types import Passage

_OPTION = r"(?<![\w-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z])(?![\w-])"
_IDENTIFIER = r"\b[^\W\d_][^\W_]*+_\w*[^\W_]\b"
_CODE = re.compile(rf"{_OPTION}|{_IDENTIFIER}|\b(?:[^\W\d_]+|[A-Z]+-)\d\w*|\b[A-Z]{{2,4}} \d{{1,3}}(?![\w%]|[.,]\d)")
_WORD = re.compile(r"\w+")
_SERIES = re.compile(r"[^\W\d_]+(?=\W?\d)")
OPENING = 2
"""Passages with which a document says what it is about."""
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


def headed_text(passage: Passage) -> str:
    """The text of a passage below its headings, in which its codes are looked for."""
    return "\n".join([*passage.place.heading, passage.text])


def document_codes(passages: Sequence[Passage], codes: Collection[str]) -> list[frozenset[str]]:
    """For each passage the codes among these that name its document and that it does not have.

    Title or opening of a manual name a device, such as the "H115i"; its sections seldom do. A passage about another
    member of the series ("H100i") is not about this one. Only passages that are passed are looked at.
    """
    names = [code for code in codes if _SERIES.match(code) and "_" not in code]
    if not names:
        return [frozenset()] * len(passages)
    texts = [*map(headed_text, passages)]
    opening = {
        (*_document(passage), name)
        for passage, text in zip(passages, texts, strict=True)
        for name in names
        if has_code(f"{passage.source.title}\n{text}" if _is_opening(passage) else passage.source.title, name)
    }
    return [
        frozenset(
            name
            for name in names
            if (*_document(passage), name) in opening
            and not has_code(text, name)
            and _series(name) not in map(_series, codes_in(text))
        )
        for passage, text in zip(passages, texts, strict=True)
    ]


def _document(passage: Passage) -> tuple[str, str]:
    return passage.source.collection, passage.source.document


def _is_opening(passage: Passage) -> bool:
    position = passage.id.rpartition("#")[2]
    return position.isdecimal() and int(position) < OPENING


def _series(code: str) -> str:
    """The letters before the number of a code: "h" for "H115i"; "" for an option or identifier."""
    letters = _SERIES.match(code)
    return letters[0].casefold() if letters else ""
