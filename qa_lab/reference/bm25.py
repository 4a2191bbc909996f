"""BM25 over a collection in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from qa_core.types import FloatArray, IntArray

Analyser = Callable[[str], Sequence[str]]
K1, B = 1.2, 0.75


class BM25:
    """`idf_t · f (k1 + 1) / (f + k1 (1 − b + b L / L̄))`, idf_t = ln(1 + (N − n_t + .5) / (n_t + .5)).

    Robertson and Zaragoza (2009), eq. 3.15, with Lucene's idf. A term of the query counts as often as it occurs.
    """

    def __init__(self, texts: Sequence[str], analyse: Analyser) -> None:
        self._analyse, self._size = analyse, len(texts)
        counts = [Counter(analyse(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)  # (N,)
        norm = (K1 * (1 - B + B * lengths / max(1e-9, lengths.mean() if len(texts) else 0.0))).astype(np.float32)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for term, frequency in count.items():
                postings[term].append((row, frequency))
        self._postings = {term: self._weighted(entries, norm) for term, entries in postings.items()}

    def _weighted(self, entries: Sequence[tuple[int, int]], norm: FloatArray) -> tuple[IntArray, FloatArray]:
        rows, frequencies = np.array(entries, dtype=np.int64).T
        weights = self._idf(len(rows)) * frequencies * (K1 + 1) / (frequencies + norm[rows])
        return rows, weights.astype(np.float32)

    def _idf(self, containing: int) -> float:
        return float(np.log(1 + (self._size - containing + 0.5) / (containing + 0.5)))

    def scores(self, query: str) -> FloatArray:
        """Score of each text, (N,)."""
        total = np.zeros(self._size, dtype=np.float32)
        for term, repeats in Counter(self._analyse(query)).items():
            if term in self._postings:
                rows, weights = self._postings[term]
                total[rows] += repeats * weights
        return total

    def rarity(self, term: str) -> float:
        """idf of a term as a share of the idf of an unknown term, in (0, 1]."""
        rows, _ = self._postings.get(term, (np.zeros(0), None))
        return max(1e-6, self._idf(len(rows)) / self._idf(0))
