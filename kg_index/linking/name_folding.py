"""Folds names to words without case and accents, with their positions in the original text.

Both the writer and the reader of a mention table use it, so that a name matches in any spelling.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from qa_core.text.analysis import fold

LONGEST_WORD = 128  # characters of a word that count, for linear time in the text


class Word(NamedTuple):
    """`text[start:end]` of the original and its folded form, which may be several words for one character."""

    start: int
    end: int
    folded: str


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _ranges(points: list[int]) -> str:
    cuts = [0, *(i for i, (a, b) in enumerate(pairwise(points), start=1) if b != a + 1), len(points)]
    return "".join(f"\\u{points[a]:04x}-\\u{points[b - 1]:04x}" for a, b in pairwise(cuts))


_MARKS = _ranges(
    [
        p
        for p in (*range(0x300, 0x1E00), *range(0x20D0, 0x20F1), *range(0xA66F, 0xABEE), *range(0xFE00, 0xFE30))
        if unicodedata.category(chr(p))[0] == "M"
    ]
)
# Scripts without spaces between words (Thai to Myanmar, kana, Han): each character with its marks is a word.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_SHARP = r"(?<=[^\W\d_])[+#]{1,2}(?![\w+#])"  # of "C++" and "C#", which are not "C"
_ASCII = re.compile(rf"[A-Za-z0-9]+(?:{_SHARP})?")
_WORD = re.compile(rf"[{_UNSPACED}][{_MARKS}\u200d]*|(?:[^\W_{_UNSPACED}][{_MARKS}\u200c\u200d]*)+(?:{_SHARP})?")


def name_words(text: str) -> list[Word]:
    """The words of `text` in order, separated by spaces, punctuation, hyphens or apostrophes."""
    if text.isascii():
        return [Word(m.start(), m.end(), m[0][:LONGEST_WORD].lower()) for m in _ASCII.finditer(text)]
    words = (Word(m.start(), m.end(), _folded(m[0][:LONGEST_WORD])) for m in _WORD.finditer(text))
    return [word for word in words if word.folded]


def key_of(name: str) -> str:
    """The folded name: "Beyoncé–Knowles" is "beyonce knowles". Empty for a name without words."""
    if name.isascii() and len(name) <= LONGEST_WORD:  # the common case, for speed
        return " ".join(_ASCII.findall(name.lower()))
    return " ".join(word.folded for word in name_words(name))


@lru_cache(maxsize=16_384)
def _folded(word: str) -> str:
    return word.lower() if word.isascii() else " ".join(_WORD.findall(fold(word)))


_STOP_WORDS = _word_set(
    """
    a about all also am an and any are as at be been being but by can could did do does for from had has have he her
    here him his how i if in into is it its me my no nor not of off on one or our out over she so some such than
    that the their them then there these they this those to too under up us was we were what when where which who
    whom whose why will with would you your s t name named called many much made make most more type kind
    """
)


def is_function_name(folded: str) -> bool:
    """Whether a name consists of stop words and single letters ("it", "the who", "X")."""
    return all(word in _STOP_WORDS or (len(word) == 1 and word.isascii()) for word in folded.split(" "))


def looks_like_name(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is written as a name: in quotes, or with capitals in a text with lower-case words.

    The capital of the first word of a sentence does not count.
    """
    if text[max(start - 1, 0) : start] in ('"', "“", "«", "„", "‘") and start > 0:
        return True
    words = name_words(text[start:end])
    if not all(text[start + word.start].isupper() for word in words):
        return False
    if len(words) == 1 and re.search(r"(?:^|[.!?:]\s*)[^\w]*$", text[max(start - 8, 0) : start]):
        return False
    rest = re.findall(r"[^\W\d_]{2,}", f"{text[max(start - 200, 0) : start]} {text[end : end + 200]}")
    return any(word[0].islower() for word in rest)
