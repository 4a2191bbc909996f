"""A part of an index as a separate index: searches find only its documents, and statistics count only them.

The owner's documents and the starter collection are two parts of the index of a home.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from qa_bot.home.index import Index, clue_length
from qa_bot.home.starter import NAME
from qa_core.method_cache import method_cache
from qa_core.types import FloatArray, IntArray, Passage, Span
from rankers.clue import inverse_frequency
from retrievers.engines.index import Field, Filter, KeywordQuery, Length, Nearest, Similarities, Unknown, View
from retrievers.hits import Hits

CACHED_FREQUENCIES = 5_000
NO_COLLECTION = ("\0",)
"""Filters with it let nothing through: no collection has this name."""


class IndexPart:
    """One collection of an index, or everything but that collection."""

    def __init__(self, whole: Index, collection: str, *, without: bool = False, unless_named: bool = False) -> None:
        """
        Args:
            without: makes it the part that leaves the collection out …
            unless_named: … unless a filter names it beside others; statistics are still those of the part.
        """
        self._whole, self._without, self._unless_named = whole, without, unless_named
        self._collection = Filter(collections=(collection,))
        self._only = Filter(without=(collection,)) if without else self._collection
        self._frequency = method_cache(self._count_passages, maxsize=CACHED_FREQUENCIES)

    @property
    def encoder(self) -> str:
        """Name of the encoder that made the vectors."""
        return self._whole.encoder

    @cached_property
    def documents(self) -> int:
        """Number of passages of the part."""
        return self._part_of(self._whole.documents, self._whole.keyword.count(self._collection))

    @cached_property
    def whole_documents(self) -> int:
        """Number of documents of the part."""
        return self._part_of(self._whole.whole_documents, len(self._whole.keyword.matching(self._collection)))

    @cached_property
    def languages(self) -> Mapping[str, int]:
        """Number of passages by the language of their analysis."""
        count = self._whole.keyword.count
        others = {c: self._part_of(n, count(self._collection, "language", c)) for c, n in self._whole.languages.items()}
        counts = {code: count for code, count in others.items() if count and code != "en"}
        return {**counts, "en": max(0, self.documents - sum(counts.values()))}

    @property
    def has_units(self) -> bool:
        """Whether passages can be searched by their units."""
        return self._whole.has_units

    def document_frequency(self, field: Field, term: str) -> int:
        """Number of passages of the part whose field contains the term."""
        return self._frequency(field, term)

    def average_length(self, field: Length) -> float:
        """Mean terms of a passage of the part with its context, of a document's title, or of its clue."""
        return self._clue_length if field == "clue" else self._average_lengths[field]

    def unknown(self, only: Filter) -> Unknown | None:
        """The first value of a filter that no document of the whole index has."""
        return self._whole.unknown(only)

    def named(self, id: str) -> tuple[int, ...]:  # noqa: A002  # the noun's own name
        """Keys of the documents of the whole index with a public id."""
        return self._whole.named(id)

    def keyword_hits(self, query: KeywordQuery, k: int, only: Filter | None = None) -> Hits:
        """The k best passages of the part; words are weighted by their rarity in the part."""
        terms = tuple((term, weight * self._rarity_ratio(query.field, term)) for term, weight in query.terms)
        return self._whole.keyword_hits(replace(query, terms=terms), k, self._within(only))

    def dense_hits(self, view: View, queries: FloatArray, k: int, only: Filter | None = None) -> list[Hits]:
        """The k nearest titles or passages of each query (Q, D)."""
        return self._whole.dense_hits(view, queries, k, self._within(only))

    def unit_hits(self, query: FloatArray, k: int, only: Filter | None = None) -> Hits:
        """The k passages with the best units for a query (D,)."""
        return self._whole.unit_hits(query, k, self._within(only))

    def similarities(self, passages: IntArray, query: FloatArray) -> Similarities:
        """How similar passages, given by their keys (n,), are to a query (D,)."""
        return self._whole.similarities(passages, query)

    def passages_of(self, documents: IntArray) -> tuple[IntArray, IntArray]:
        """Keys (n,) of the passages of documents, and the document of each."""
        return self._whole.passages_of(documents)

    def unit_scores(self, passages: Sequence[int], query: FloatArray) -> dict[int, tuple[list[Span], FloatArray]]:
        """The units of passages, by key, with the cosine of each with a query (D,)."""
        return self._whole.unit_scores(passages, query)

    def floors(self, query: FloatArray, only: Filter | None = None) -> tuple[float, float, float]:
        """The lowest cosine of a title, a passage and a best unit with a query (D,), from a sample of the part."""
        return self._whole.floors(query, self._within(only))

    def passages(self, keys: Sequence[int]) -> dict[int, Passage]:
        """Passages by key."""
        return self._whole.passages(keys)

    def best_passages(
        self, documents: Sequence[int], query: FloatArray | None, preferred: Mapping[int, int]
    ) -> dict[int, Nearest]:
        """The best passage of each document; see the protocol."""
        return self._whole.best_passages(documents, query, preferred)

    def _within(self, only: Filter | None) -> Filter:
        """The part, narrowed by a filter."""
        if not only:
            return self._only if only is None else replace(self._only, but=only.but)
        if self._without:
            is_named = self._unless_named and {*only.collections} > {*self._only.without}
            return only if is_named else replace(only, without=(*only.without, *self._only.without))
        common = tuple(name for name in only.collections if name in self._only.collections)
        return replace(only, collections=(common or NO_COLLECTION) if only.collections else self._only.collections)

    def _part_of(self, whole: int, in_collection: int) -> int:
        """A count of the part: that of the collection, or what it leaves of the whole."""
        return max(0, whole - in_collection) if self._without else in_collection

    def _count_passages(self, field: Field, term: str) -> int:
        whole = self._whole.document_frequency(field, term)  # which counts deleted passages, too
        if not whole:
            return 0
        return min(self.documents, self._part_of(whole, self._whole.keyword.count(self._collection, field, term)))

    def _rarity_ratio(self, field: Field, term: str) -> float:
        """The rarity of a term in the part, over that in the whole index, by which its search weighs the term."""
        whole = self._whole.document_frequency(field, term)
        if not whole:
            return 1.0
        rarity = inverse_frequency(self.documents, self.document_frequency(field, term))
        return rarity / inverse_frequency(self._whole.documents, whole)

    @cached_property
    def _clue_length(self) -> float:
        return clue_length(self._whole, self._whole.keyword.matching(self._only))

    @cached_property
    def _average_lengths(self) -> Mapping[Field, float]:
        """Only the first passage of a document has its title, so the mean of titles is over documents."""
        lengths = self._whole.keyword.average_lengths(self._only)
        documents = len(self._whole.keyword.matching(self._only))
        return {"all": lengths["all"], "title": lengths["title"] * self.documents / max(1, documents)}


def parts(index: Index, mode: Literal["auto", "always", "off"]) -> tuple[Index | IndexPart, IndexPart | None]:
    """What answers, and the part that answers if that does not; `mode` is that of the starter collection.

    With `auto` these are the owner's documents and the starter collection, if the home holds both. An index of version
    0.1 cannot be filtered and stays whole.
    """
    if mode == "always" or not index.has_units:
        return index, None
    starter, owners = IndexPart(index, NAME), IndexPart(index, NAME, without=True, unless_named=mode == "auto")
    if not starter.documents or (mode == "auto" and not owners.documents):
        return index, None
    return owners, starter if mode == "auto" else None
