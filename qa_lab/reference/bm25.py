"""BM25 over a collection in memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from qa_core.types import FloatArray

Analyser = Callable[[str], Sequence[str]]
K1, B = 1.2, 0.75


class BM25:
    """`idf_t · f (k1 + 1) / (f + k1 (1 − b + b L / L̄))`, idf_t = ln(1 + (N − n_t + .5) / (n_t + .5)).

    Robertson and Zaragoza (2009), eq. 3.15, with Lucene's idf. A term of the query counts as often as it occurs.
    """

    def __init__(self, texts: Sequence[str], analyse: Analyser) -> None:
        self._analyse, self._size = analyse, len(texts)
        self._vocabulary: dict[str, int] = {}
        lengths = array("i")
        term_of, row_of, frequencies = array("i"), array("i"), array("i")  # of T pairs of a text and a term
        for row, text in enumerate(texts):
            counts = Counter(analyse(text))
            lengths.append(counts.total())
            for term, frequency in counts.items():
                term_of.append(self._vocabulary.setdefault(term, len(self._vocabulary)))
                row_of.append(row)
                frequencies.append(frequency)
        terms, rows = np.array(term_of, dtype=np.int64), np.array(row_of, dtype=np.int64)
        order = np.argsort(terms, kind="stable")
        self._bounds = np.searchsorted(terms[order], np.arange(len(self._vocabulary) + 1))
        self._rows = rows[order]  # (T,), grouped by term
        length = np.array(lengths, dtype=np.float64)  # (N,)
        norm = K1 * (1 - B + B * length / max(1e-9, length.mean() if len(texts) else 0.0))
        frequency_of = np.array(frequencies, dtype=np.float64)[order]
        idf = np.array([self._idf(count) for count in np.diff(self._bounds)])
        saturated = frequency_of * (K1 + 1) / (frequency_of + norm[self._rows])
        self._weights = (idf[terms[order]] * saturated).astype(np.float32)  # (T,)

    def _idf(self, containing: int) -> float:
        return float(np.log(1 + (self._size - containing + 0.5) / (containing + 0.5)))

    def scores(self, query: str) -> FloatArray:
        """Score of each text, (N,)."""
        total = np.zeros(self._size, dtype=np.float32)
        for term, repeats in Counter(self._analyse(query)).items():
            span = self._span(term)
            total[self._rows[span]] += repeats * self._weights[span]
        return total

    def rarity(self, term: str) -> float:
        """idf of a term as a share of the idf of an unknown term, in (0, 1]."""
        span = self._span(term)
        return max(1e-6, self._idf(span.stop - span.start) / self._idf(0))

    def _span(self, term: str) -> slice:
        """The entries of a term; empty for an unknown one."""
        number = self._vocabulary.get(term)
        return slice(0, 0) if number is None else slice(int(self._bounds[number]), int(self._bounds[number + 1]))
