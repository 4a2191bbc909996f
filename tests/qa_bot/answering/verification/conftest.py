"""A token encoder whose vectors are written by hand: words of a group have one direction."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from qa_core.types import FloatArray, Span

GROUPS = (
    ("bring", "take"),
    ("puppy", "dog"),
    ("office", "work"),
    ("price", "cost"),
    ("vienna",),
    ("euros", "e19", "e02", "19"),
)
_WORD = re.compile(r"\w+")


class HandMadeTokens:
    """A token is a word, with two special tokens around the text; a word without a group has a zero vector.

    A word has its length as id, special tokens have 0.
    """

    def __init__(self) -> None:
        self.read: list[str] = []

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        self.read += texts
        return [np.array([self._vector(""), *map(self._vector, _WORD.findall(t)), self._vector("")]) for t in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[0, *map(len, _WORD.findall(text)), 0] for text in texts]

    def token_spans(self, text: str) -> list[Span]:
        return [(0, 0), *(match.span() for match in _WORD.finditer(text)), (0, 0)]

    def _vector(self, word: str) -> FloatArray:
        return np.array([2.0 * (word.lower() in group) for group in GROUPS], np.float32)


@pytest.fixture
def tokens() -> HandMadeTokens:
    return HandMadeTokens()
