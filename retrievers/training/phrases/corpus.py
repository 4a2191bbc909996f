"""Texts as numbers of their frequent words, as word vectors are trained on."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from qa_core.text.analysis import words as words_of
from qa_core.types import IntArray


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts as numbers of words, without the words that have no vector.

    `words` (V) are in descending order of their `counts` (V,); `tokens` (N,) are numbers of words, and `texts` (N,) the
    ascending number of the text of each.
    """

    words: tuple[str, ...]
    counts: IntArray
    tokens: IntArray
    texts: IntArray

    @classmethod
    def of(cls, texts: Iterable[str], *, most: int, minimum: int) -> Self:
        """The corpus of the `most` words with at least `minimum` occurrences.

        Raises:
            ValueError: fewer than two words occur as often.
        """
        number_of: dict[str, int] = {}
        tokens, places = _read(texts, lambda word: number_of.setdefault(word, len(number_of)))
        counts = np.bincount(tokens, minlength=len(number_of))
        order = np.argsort(-counts, kind="stable")[:most]
        common = order[counts[order] >= minimum]
        if len(common) < 2:
            raise ValueError(
                f"Expected words that occur at least {minimum} times, but got {len(common)} of {len(number_of)}; give "
                "more texts, or a lower `minimum`."
            )
        new = np.full(len(number_of), -1, dtype=np.int64)
        new[common] = np.arange(len(common))
        known = new[tokens] >= 0
        names = list(number_of)
        return cls(tuple(names[i] for i in common.tolist()), counts[common], new[tokens][known], places[known])

    def others(self, texts: Iterable[str]) -> Self:
        """Other texts with the same words."""
        number_of = {word: number for number, word in enumerate(self.words)}
        tokens, places = _read(texts, number_of.get)
        return type(self)(self.words, self.counts, tokens, places)


def _read(texts: Iterable[str], number: Callable[[str], int | None]) -> tuple[IntArray, IntArray]:
    """Numbers of the words of all texts, and of the text of each; words without a number are left out."""
    tokens, places = array("q"), array("q")
    for place, text in enumerate(texts):
        known: Sequence[int] = [id_ for word in words_of(text) if (id_ := number(word)) is not None]
        tokens.extend(known)
        places.extend([place] * len(known))
    return np.array(tokens, dtype=np.int64), np.array(places, dtype=np.int64)
