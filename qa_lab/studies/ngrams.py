"""An n-gram language model, to judge the fluency of a network's texts independently of the network.

Interpolated Kneser–Ney with one discount for each length of n-gram (Chen and Goodman 1999, §4.1.6).
Letters: v a context, w a word, c counts, V words.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

from qa_core.networks.vocabulary import END, START

Gram = tuple[str, ...]
ORDER = 3
_NO_SINGLES = 0.5  # discount if no n-gram occurs exactly once


@dataclass(frozen=True, slots=True)
class _Level:
    """Counts of n-grams of one length: of full length by occurrence, of shorter ones by distinct contexts."""

    counts: dict[Gram, float]  # c(vw) − D
    totals: dict[Gram, int]  # c(v)
    backoff: dict[Gram, float]  # D N(v·) / c(v)

    @classmethod
    def of(cls, counts: Counter[Gram]) -> Self:
        totals: defaultdict[Gram, int] = defaultdict(int)
        continuations: defaultdict[Gram, int] = defaultdict(int)
        for gram, count in counts.items():
            totals[gram[:-1]] += count
            continuations[gram[:-1]] += 1
        discount = _discount(counts)
        backoff = {context: discount * continuations[context] / total for context, total in totals.items()}
        return cls({gram: count - discount for gram, count in counts.items()}, dict(totals), backoff)


@dataclass(frozen=True, slots=True)
class Ngrams:
    """`p(w | v) = (c(vw) − D) / c(v) + D N(v·) / c(v) · p(w | v without its first word)`, and finally `1 / V`."""

    levels: tuple[_Level, ...]  # the shortest first
    words: int  # V: known words, the end of a text, and one for all unknown words

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]], *, known: Collection[str] = (), order: int = ORDER) -> Self:
        """Count n-grams of texts; `known` are further known words. Raises ValueError if there is no text."""
        counts = Counter(chain.from_iterable(_grams(text, order) for text in texts))
        if not counts:
            raise ValueError("Expected texts to count words in, but got none.")
        words = len({*known, *(gram[-1] for gram in counts), END}) + 1
        levels = [_Level.of(counts)]
        for _ in range(order - 1):
            counts = Counter(gram[1:] for gram in counts)
            levels.insert(0, _Level.of(counts))
        return cls(tuple(levels), words)

    def log_p(self, word: str, before: Gram) -> float:
        """`log p(word | before)`; only the last `order − 1` words before matter."""
        p = 1 / self.words
        for length, level in enumerate(self.levels):
            context = before[len(before) - length :]
            if total := level.totals.get(context):
                p = level.counts.get((*context, word), 0.0) / total + level.backoff[context] * p
        return math.log(p)

    def surprise(self, text: Sequence[str]) -> float:
        """`−1/T Σ log p`, in nats, over the T words of a text and its end; `exp` of it is the perplexity."""
        grams = _grams(text, len(self.levels))
        return -sum(self.log_p(gram[-1], gram[:-1]) for gram in grams) / len(grams)


def _grams(text: Sequence[str], order: int) -> list[Gram]:
    """N-grams that end with each word and with the end of the text."""
    padded = (*[START] * (order - 1), *text, END)
    return [padded[first : first + order] for first in range(len(text) + 1)]


def _discount(counts: Counter[Gram]) -> float:
    """`n1 / (n1 + 2 n2)`, where n1 and n2 n-grams occur once and twice."""
    occurrences = Counter(counts.values())
    return occurrences[1] / (occurrences[1] + 2 * occurrences[2]) if occurrences[1] else _NO_SINGLES
