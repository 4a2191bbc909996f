"""The role of a search index: the queries that it takes, and what answering needs from every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from qa_core.types import FloatArray, Passage
from retrievers.hits import Hits

Field = Literal["title", "all"]
"""What keywords are looked up in: the title of a document, or title, body and passage together."""

View = Literal["titles", "bodies"]
"""What has vectors: the title of a document, and title and passage together."""
VIEWS: tuple[View, ...] = get_args(View)

Phrase = tuple[tuple[str, ...], float, int]
"""Two or more terms in this order, a weight, and by how many positions the terms may be moved in all (0: adjacent)."""


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """Analysed terms and phrases with their weights; a passage scores the weighted sum of those that it contains."""

    terms: tuple[tuple[str, float], ...]
    field: Field = "all"
    phrases: tuple[Phrase, ...] = ()


class Nearest(NamedTuple):
    """The best passage of a document, and its similarities to the question if they are known."""

    passage: Passage
    similarities: Mapping[str, float]


class Index(Protocol):
    """An index opened for reading. Documents and passages go by their keys in the store."""

    @property
    def encoder(self) -> str:
        """Name of the encoder that made the vectors."""
        ...

    @property
    def documents(self) -> int:
        """Number of entries that `document_frequency` counts over."""
        ...

    def document_frequency(self, field: Field, term: str) -> int:
        """Number of entries whose field contains the term, at most `documents`."""
        ...

    def average_length(self, field: Field) -> float:
        """Mean number of terms in a field, 0 for an empty index."""
        ...

    def keyword_hits(self, query: KeywordQuery, k: int) -> Hits:
        """The k best passages for a keyword query."""
        ...

    def dense_hits(self, view: View, queries: FloatArray, k: int) -> list[Hits]:
        """The k nearest titles or passages for each query (Q, D)."""
        ...

    def best_passages(
        self, documents: Sequence[int], query: FloatArray | None, preferred: Mapping[int, int]
    ) -> dict[int, Nearest]:
        """The best passage of each document: the nearest to the query (D,), else the preferred one, else the first.

        Args:
            documents: keys; an unknown one is left out.
            preferred: keys of passages by key of their document.
        """
        ...
