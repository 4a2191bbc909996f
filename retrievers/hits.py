"""Hits of a query in a keyword or dense index, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.types import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Keys of documents and passages with their scores, best first; passage −1 if the hit is a title."""

    documents: IntArray  # (N,)
    passages: IntArray  # (N,)
    scores: NDArray[np.floating]  # (N,)

    @classmethod
    def of(cls, documents: ArrayLike = (), passages: ArrayLike = (), scores: ArrayLike = ()) -> Self:
        return cls(np.asarray(documents, np.int64), np.asarray(passages, np.int64), np.asarray(scores, np.float64))

    @classmethod
    def concat(cls, several: Sequence[Hits]) -> Hits:
        """All hits, one list after another."""
        columns = zip(*((hits.documents, hits.passages, hits.scores) for hits in several), strict=True)
        return cls(*map(np.concatenate, columns)) if several else cls.of()

    def __len__(self) -> int:
        return len(self.documents)

    def ordered(self) -> Hits:
        """Best first, equal scores by passage and document."""
        if (self.scores[1:] < self.scores[:-1]).all():  # the usual case
            return self
        return self.at(np.lexsort((self.documents, self.passages, -self.scores)))

    def distinct(self) -> Hits:
        """The first hit of each document."""
        _, first = np.unique(self.documents, return_index=True)
        first.sort()
        return self.at(first)

    def but(self, documents: Sequence[int]) -> Hits:
        """Without the hits of these documents."""
        return self.at(~np.isin(self.documents, documents)) if documents else self

    def passage_of(self) -> dict[int, int]:
        """Key of the passage by key of its document."""
        return dict(zip(self.documents.tolist(), self.passages.tolist(), strict=True))

    def at(self, rows: IntArray | slice | NDArray[np.bool_]) -> Hits:
        return Hits(self.documents[rows], self.passages[rows], self.scores[rows])
