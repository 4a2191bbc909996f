"""TF-IDF search in a small collection in memory (Salton and Buckley 1988), by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from qa_core.types import IntArray

Analyser = Callable[[str], Sequence[str]]


class TfIdf:
    """Documents as unit vectors of `tf_td (ln((1 + N) / (1 + n_t)) + 1)`."""

    def __init__(self, texts: Sequence[str], analyser: Analyser) -> None:
        self._vectoriser = TfidfVectorizer(analyzer=analyser)
        self._documents = self._vectoriser.fit_transform(texts)  # (N, V), sparse

    @property
    def idf(self) -> dict[str, float]:
        """`ln((1 + N) / (1 + n_t)) + 1` of each term."""
        return dict(zip(self._vectoriser.get_feature_names_out(), self._vectoriser.idf_.tolist(), strict=True))

    def search(self, text: str, k: int) -> IntArray:
        """Indexes of the k texts with the highest cosine, best first; only texts that share a term with `text`."""
        scores = (self._documents @ self._vectoriser.transform([text]).T).toarray()[:, 0]
        (matches,) = scores.nonzero()
        best: IntArray = matches[np.argsort(-scores[matches], kind="stable")[:k]]
        return best
