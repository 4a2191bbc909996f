"""A language model of counted words, to judge the fluency of a network's texts independently of the network.

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
_UNSEEN = 0.5  # discount where no n-gram stands once


@dataclass(frozen=True, slots=True)
class _Level:
    """Counts of n-grams of one length: of full length by occurrence, of shorter ones by distinct contexts."""

    counts: dict[Gram, float]  # of vw, less the discount
    totals: dict[Gram, int]  # c(v), with all words after it
    spared: dict[Gram, float]  # the discounts of the words after v, over c(v)

    @classmethod
    def of(cls, counts: Counter[Gram]) -> Self:
        totals: defaultdict[Gram, int] = defaultdict(int)
        kinds: defaultdict[Gram, int] = defaultdict(int)
        for gram, count in counts.items():
            totals[gram[:-1]] += count
            kinds[gram[:-1]] += 1
        discount = _discount(counts)
        spared = {context: discount * kinds[context] / total for context, total in totals.items()}
        return cls({gram: count - discount for gram, count in counts.items()}, dict(totals), spared)


@dataclass(frozen=True, slots=True)
class Ngrams:
    """`p(w | v) = (c(vw) − D) / c(v) + D N(v·) / c(v) · p(w | v without its first word)`, at last `1 / V`."""

    levels: tuple[_Level, ...]  # the shortest first
    words: int  # V: known words, the end of a text, and one for all others

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]], *, known: Collection[str] = (), order: int = ORDER) -> Self:
        """Count the words of texts.

        Args:
            known: further words that are known.

        Raises:
            ValueError: there is no text.
        """
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
        """`log p(word | before)`, of which the last words count."""
        p = 1 / self.words
        for length, level in enumerate(self.levels):
            context = before[len(before) - length :]
            if total := level.totals.get(context):
                p = level.counts.get((*context, word), 0.0) / total + level.spared[context] * p
        return math.log(p)

    def surprise(self, text: Sequence[str]) -> float:
        """`−1/T Σ log p`, in nats, over the T words of a text and its end; `exp` of it is the perplexity."""
        grams = _grams(text, len(self.levels))
        return -sum(self.log_p(gram[-1], gram[:-1]) for gram in grams) / len(grams)


def _grams(text: Sequence[str], order: int) -> list[Gram]:
    """The words and the end, each with the words before it."""
    padded = (*[START] * (order - 1), *text, END)
    return [padded[first : first + order] for first in range(len(text) + 1)]


def _discount(counts: Counter[Gram]) -> float:
    """`n1 / (n1 + 2 n2)`, of the numbers of n-grams that occur once and twice."""
    often = Counter(counts.values())
    return often[1] / (often[1] + 2 * often[2]) if often[1] else _UNSEEN
