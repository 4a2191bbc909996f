"""Corrects words of questions that neither the documents nor a general vocabulary know."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache

from qa_bot.answering.spelling import distance
from qa_bot.home.starter import ENCODER
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.text.analysis import terms
from qa_lab.reference.words import ENGLISH, words

SHORTEST = 4
SHORT = 6
"""A shorter word may have one error, others two."""


class Speller:
    """The nearest word of the documents by edits; the first letter, then frequency decides between equals."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in words(text))
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in self._counts:
            if word.isalpha():
                self._by_length[len(word)].append(word)

    def correct(self, question: str) -> str:
        """The question with its unknown words corrected; names and words without a near neighbour are unchanged."""
        return re.sub(r"\w+", lambda match: self._nearest(match[0]) or match[0], question)

    def _nearest(self, written: str) -> str | None:
        word = written.lower()
        if self._is_right(written, word):
            return None
        allowed = 1 if len(word) < SHORT else 2
        best: tuple[int, int, int, str] | None = None
        for length in range(len(word) - allowed, len(word) + allowed + 1):
            for candidate in self._by_length.get(length, ()):
                same_start = candidate[0] == word[0]
                if allowed < 2 and not same_start:
                    continue
                edits = distance(word, candidate)
                if edits <= allowed:
                    key = (edits, -same_start, -self._counts[candidate], candidate)
                    best = key if best is None else min(best, key)
        return best[3] if best else None

    def _is_right(self, written: str, word: str) -> bool:
        if len(word) < SHORTEST or not word.isalpha() or written[0].isupper():
            return True
        known, known_stems = _general_vocabulary()
        return word in self._counts or word in ENGLISH or word in known or bool(known_stems.intersection(terms(word)))


@cache
def _general_vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    """Whole words of the starter encoder's vocabulary, and their stems."""
    vocabulary = SubwordTokeniser.load(ENCODER).tokenizer.get_vocab()
    known = frozenset(word for word in vocabulary if word.isalpha())
    return known, frozenset(stem for word in known for stem in terms(word))
