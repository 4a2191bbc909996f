"""The role of a search index: the queries that it takes, and what answering needs from every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from qa_core.types import FloatArray, IntArray, Passage, Span
from retrievers.hits import Hits

Field = Literal["title", "all", "grams"]
"""What keywords are looked up in: the title of a document; title, headings, body and passage together; or pieces of
four characters of the words in `all`, which bridge misspellings, inflections and compounds."""

Length = Literal["title", "all", "clue"]
"""What has a mean length: a field, or the clue of a document, which is its title with its body or else a snippet."""

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


class Similarities(NamedTuple):
    """Cosines of passages with a question (n,): of the document's title, the passage, and its best unit.

    `best_units` are the numbers of the best units among those of their passages, −1 where a passage has none.
    """

    titles: FloatArray
    bodies: FloatArray
    units: FloatArray
    best_units: IntArray


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may be found; empty fields allow all.

    `under` holds paths of folders or documents, `since` and `until` are dates YYYYMMDD (a document without a date is
    then left out). `without` names collections that are left out, `but` keys of documents; a filter with `but` alone
    counts as none.
    """

    collections: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: int = 0
    until: int = 0
    without: tuple[str, ...] = ()
    but: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.collections or self.under or self.languages or self.since or self.until or self.without)


NO_FILTER = Filter()


class Unknown(NamedTuple):
    """A value of a filter that no document has; values that come near it, or else the first ones, if not all."""

    field: Literal["collection", "folder", "language"]
    value: str
    near: tuple[str, ...]
    more: bool = False


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

    @property
    def whole_documents(self) -> int:
        """Number of documents, of which each has one entry or several."""
        ...

    @property
    def languages(self) -> Mapping[str, int]:
        """Number of entries by the language (ISO 639-1) that their texts were analysed in."""
        ...

    @property
    def has_units(self) -> bool:
        """Whether passages can be searched by their units, so that they can be ranked by all evidence."""
        ...

    def document_frequency(self, field: Field, term: str) -> int:
        """Number of entries whose field contains the term, at most `documents`."""
        ...

    def average_length(self, field: Length) -> float:
        """Mean number of terms in a field, or in what leads to a passage; 0 for an empty index."""
        ...

    def named(self, id: str) -> tuple[int, ...]:  # noqa: A002  # the noun's own name
        """Keys of the documents with a public id, one for each collection that has it."""
        ...

    def unknown(self, only: Filter) -> Unknown | None:
        """The first value of a filter that no document has."""
        ...

    def keyword_hits(self, query: KeywordQuery, k: int, only: Filter | None = None) -> Hits:
        """The k best passages for a keyword query, of those that a filter lets through."""
        ...

    def dense_hits(self, view: View, queries: FloatArray, k: int, only: Filter | None = None) -> list[Hits]:
        """The k nearest titles or passages for each query (Q, D), of those that a filter lets through."""
        ...

    def unit_hits(self, query: FloatArray, k: int, only: Filter | None = None) -> Hits:
        """The k passages with the best units for a query (D,)."""
        ...

    def similarities(self, passages: IntArray, query: FloatArray) -> Similarities:
        """How similar passages, given by their keys (n,), are to a query (D,)."""
        ...

    def passages_of(self, documents: IntArray) -> tuple[IntArray, IntArray]:
        """Keys (n,) of the passages of documents, and the document of each."""
        ...

    def unit_scores(self, passages: Sequence[int], query: FloatArray) -> dict[int, tuple[list[Span], FloatArray]]:
        """The units of passages, by key, with the cosine of each with a query (D,); none for an unknown key."""
        ...

    def floors(self, query: FloatArray, only: Filter | None = None) -> tuple[float, float, float]:
        """The lowest cosine of a title, a passage and a best unit with a query (D,), from a sample.

        The sample is taken from the passages that a filter lets through.
        """
        ...

    def passages(self, keys: Sequence[int]) -> dict[int, Passage]:
        """Passages by key; an unknown one is left out."""
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
