"""Texts as bags of topic words in one flat table; equal bags are merged."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qa_core.networks.vocabulary import Vocabulary
from qa_core.text.analysis import words
from qa_core.types import IntArray


@dataclass(frozen=True, slots=True)
class Bags:
    """Distinct bags; those without a known word are left out."""

    starts: IntArray  # (N + 1,), where the words of each bag begin, and at last M
    words: IntArray  # (M,), word numbers, ascending within a bag; repeated as in the text
    weights: NDArray[np.float64]  # (N,), texts that have this bag
    empty: int = 0  # texts without a known word

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def texts(self) -> int:
        """Number of texts."""
        return int(self.weights.sum())

    @property
    def tokens(self) -> float:
        """Number of words in all texts."""
        return float(self.weights @ np.diff(self.starts))

    def counts(self, size: int) -> NDArray[np.float64]:
        """Occurrences of each of `size` words in the texts. (V,)"""
        repeated = np.repeat(self.weights, np.diff(self.starts))
        return np.bincount(self.words, weights=repeated, minlength=size).astype(np.float64)

    def blocks(self, size: int) -> Iterator[Bags]:
        """Parts of at most `size` bags, in order."""
        for first in range(0, len(self), size):
            last = min(first + size, len(self))
            begin, end = self.starts[first], self.starts[last]
            yield Bags(self.starts[first : last + 1] - begin, self.words[begin:end], self.weights[first:last])


def bags_of(texts: Iterable[str], vocabulary: Vocabulary) -> Bags:
    """The bags of texts over the words of a vocabulary without `<unk>`, in the order in which they are first met."""
    counted = Counter(array("i", sorted(vocabulary.ids(words(text)))).tobytes() for text in texts)
    empty = counted.pop(b"", 0)
    lengths = np.fromiter((len(key) for key in counted), dtype=np.int64, count=len(counted)) // array("i").itemsize
    return Bags(
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        words=np.frombuffer(b"".join(counted), dtype=np.intc).astype(np.int64),
        weights=np.fromiter(counted.values(), dtype=np.float64, count=len(counted)),
        empty=empty,
    )


def topic_words(
    texts: Iterable[str], *, size: int, minimum: int = 5, leave_out: Collection[str] = frozenset()
) -> Vocabulary:
    """The most frequent words, `size` at most, that occur in at least `minimum` texts.

    Single letters, numbers, blanks to fill in ("___"), and the words to `leave_out` are excluded.
    """
    counts = Counter(word for text in texts for word in set(words(text)))
    topical = {word: count for word, count in counts.items() if word not in leave_out and _is_word(word)}
    return Vocabulary.from_counts(topical, size=size, minimum=minimum, specials=())


def _is_word(word: str) -> bool:
    return len(word) > 1 and word[0].isalpha()
