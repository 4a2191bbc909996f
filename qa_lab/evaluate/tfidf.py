"""Cosines of TF-IDF vectors over a small collection in memory (Salton and Buckley 1988)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from qa_core.types import FloatArray, IntArray

Analyser = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class TfIdf:
    """`w_td = tf_td ln((1 + N) / (1 + n_t)) + tf_td`, documents of length 1; each term's documents and weights."""

    analyser: Analyser
    count: int  # N
    idf: dict[str, float]
    postings: dict[str, tuple[IntArray, FloatArray]]

    @classmethod
    def of(cls, texts: Sequence[str], analyser: Analyser) -> Self:
        counts = [Counter(analyser(text)) for text in texts]
        idf = inverse_frequencies(counts)
        places: dict[str, tuple[list[int], list[float]]] = {}
        for place, terms in enumerate(counts):
            for term, weight in _weighted(terms, idf).items():
                documents, weights = places.setdefault(term, ([], []))
                documents.append(place)
                weights.append(weight)
        postings = {t: (np.array(d, np.int64), np.array(w, np.float32)) for t, (d, w) in places.items()}
        return cls(analyser, len(texts), idf, postings)

    def search(self, text: str, k: int) -> IntArray:
        """The places of the k texts of greatest cosine that share a term with this one, best first, ties by place."""
        scores = np.zeros(self.count, dtype=np.float32)
        for term, weight in _weighted(Counter(self.analyser(text)), self.idf).items():
            documents, weights = self.postings[term]
            scores[documents] += weight * weights
        (found,) = scores.nonzero()
        best: IntArray = found[np.argsort(-scores[found], kind="stable")[:k]]
        return best


def inverse_frequencies(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """`ln((1 + N) / (1 + n_t)) + 1` of each term."""
    frequencies = Counter(term for terms in counts for term in terms)
    return {term: float(np.log((1 + len(counts)) / (1 + n))) + 1 for term, n in frequencies.items()}


def _weighted(terms: Counter[str], idf: dict[str, float]) -> dict[str, float]:
    """Weights of the known terms, of length 1 together."""
    weights = {term: n * idf[term] for term, n in terms.items() if term in idf}
    length = float(np.sqrt(sum(weight**2 for weight in weights.values())))
    return {term: weight / length for term, weight in weights.items()}
