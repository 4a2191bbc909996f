"""The index of a home: a keyword index and segments of texts and vectors, read and written as one generation.

keyword/                   tantivy
segments/NAME/             see `retrievers.engines.local.segments`; hard-linked from generation to generation
alive/NAME.npy             mask of the documents that were not deleted, for segments with deletions
manifest.json              the fields of `Manifest`, and the checksum of every file
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.generations import CorruptGenerationError, Damage, Generation
from qa_bot.home.starter import NAME as STARTER
from qa_core.distinct import distinct
from qa_core.mapped_arrays import map_array
from qa_core.text.analysis import ANALYSER_VERSION, terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import plain_text
from qa_core.types import Encoder, FloatArray, IntArray, Passage, Span
from rankers.snippet import snippet
from retrievers.engines.index import VIEWS, Field, Filter, KeywordQuery, Length, Nearest, Similarities, Unknown, View
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.facets import near_names
from retrievers.engines.local.keyword import (
    KeywordIndex,
)
from retrievers.engines.local.segments import (
    DenseState,
    Segment,
)
from retrievers.hits import Hits

FIRST_ANALYSER = "qa-bot-english/1"
"""Analyser of version 0.1, whose manifests do not name one."""
READABLE_ANALYSERS = frozenset({FIRST_ANALYSER, "qa-bot/2"})
"""Older analysers whose terms are those of this version's questions, at least in English."""
CUTTER_VERSION = "qa-bot/4"
"""The rules that cut documents into passages: 1, by sentences alone, of version 0.1; 2, by the structure of documents.
Change it together with `MARKDOWN_CUTTING` of `qa_bot.documents.cutting`, by which the next `add` cuts anew."""
LAYOUT = 2
"""Version of the files: 1 lacks pieces of words, filters, places and units."""
CLUE_SAMPLE = 500
"""Documents from which the mean length of a clue is estimated."""
MOST_NAMED = 1000
"""Documents from which on an id names a folder with them, not one of them."""
SCANNED_UNITS = 200_000
"""Units up to which all are compared with a question; in a larger index only those of candidates."""
FLOOR_SAMPLE = 512
"""Passages that tell how low cosines go."""
CACHED_FILTERS = 32
NEAR = 5
"""Known values that an error names."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What made an index and what it holds; `fingerprint` is the version of the encoder's weights."""

    encoder: str
    fingerprint: str
    dimension: int
    documents: int
    passages: int
    segments: tuple[str, ...]
    analyser: str
    layout: int = LAYOUT
    cutter: str = CUTTER_VERSION

    @classmethod
    def of(cls, generation: Generation) -> Manifest:
        fields = {"analyser": FIRST_ANALYSER, "layout": 1, "cutter": "qa-bot/1", **generation.manifest}
        return cls(**{**{name: fields[name] for name in cls.__slots__}, "segments": tuple(fields["segments"])})

    @property
    def is_outdated(self) -> bool:
        """Whether another version made the index, so that the next change rebuilds it."""
        made_by = self.analyser, self.layout, self.cutter
        return made_by != (ANALYSER_VERSION, LAYOUT, CUTTER_VERSION)

    @property
    def is_readable(self) -> bool:
        """Whether it can be searched until then."""
        return self.layout <= LAYOUT and self.analyser in {ANALYSER_VERSION, *READABLE_ANALYSERS}

    def as_dict(self) -> Mapping[str, Any]:
        return asdict(self)


class Index:
    """A generation opened for reading; documents and passages are named by their keys in the store."""

    def __init__(self, generation: Generation) -> None:
        """Raises CorruptGenerationError if a version made the index whose terms are not those of questions."""
        self.generation = generation
        self.manifest = Manifest.of(generation)
        if not self.manifest.is_readable:
            detail = f"it was made with the analyser {self.manifest.analyser}, but this version has {ANALYSER_VERSION}"
            raise CorruptGenerationError(Damage("outdated", generation.path, detail))
        self.keyword = KeywordIndex(generation.path / "keyword")
        self._segments = [*open_segments(generation).values()]
        self._units = sum(len(segment.units) for segment in self._segments if segment.units is not None)
        self._allowed = lru_cache(maxsize=CACHED_FILTERS)(self.keyword.matching)
        self._known_facets: dict[str, list[str]] = {}

    @property
    def encoder(self) -> str:
        """Name of the encoder that made the vectors."""
        return self.manifest.encoder

    def has_vectors_of(self, encoder: Encoder) -> bool:
        """Whether the encoder gives the texts the vectors that the index has."""
        is_extended = self.manifest.fingerprint in encoder.extends and not self.languages.keys() - {"en"}
        return self.manifest.fingerprint == encoder.fingerprint or is_extended

    @property
    def documents(self) -> int:
        """Number of entries that `document_frequency` counts over."""
        return self.keyword.documents

    @property
    def whole_documents(self) -> int:
        """Number of documents, of which each has one passage or several."""
        return self.manifest.documents

    @property
    def languages(self) -> Mapping[str, int]:
        """Number of entries by the language of their analysis; deleted ones may be counted."""
        return self.keyword.languages

    @property
    def has_units(self) -> bool:
        """Whether passages can be searched by their units; version 0.1 made none."""
        return self.manifest.layout > 1

    def document_frequency(self, field: Field, term: str) -> int:
        """At most `documents`; tantivy itself counts deleted entries until it merges them."""
        return min(self.documents, self.keyword.document_frequency(field, term))

    def average_length(self, field: Length) -> float:
        """Mean terms of a passage with its context, of a document's title, or of its clue."""
        if field == "clue":
            return self._clue_length
        average = self.keyword.average_length(field)
        return average if field == "all" else average * self.keyword.documents / max(1, self.manifest.documents)

    @cached_property
    def _clue_length(self) -> float:
        return clue_length(self, np.concatenate([np.zeros(0, np.int64), *(s.live_documents() for s in self._segments)]))

    def _facet_values(self, field: Literal["collection", "folder", "language"]) -> list[str]:
        """The values of a field, those that only the starter collection has behind the owner's."""
        if field not in self._known_facets:  # reads every document once
            values = {value for segment in self._segments for value in segment.facet_values(field)}
            owners = {name for name, collection in values if collection != STARTER}
            self._known_facets[field] = [*sorted(owners), *sorted({name for name, _ in values} - owners)]
        return self._known_facets[field]

    def unknown(self, only: Filter) -> Unknown | None:
        """The first value of a filter that no document has."""
        fields: tuple[tuple[Literal["collection", "folder", "language"], tuple[str, ...]], ...] = (
            ("collection", only.collections),
            ("folder", only.under),
            ("language", only.languages),
        )
        for field, values in fields:
            for value in values:
                if not self.keyword.has(field, value):
                    known = [name for name in self._facet_values(field) if name]
                    near = near_names(value, known, len(known) if field == "language" else NEAR)
                    return Unknown(field, value, near, len(near) < len(known))
        return None

    def named(self, id: str) -> tuple[int, ...]:  # noqa: A002  # the noun's own name
        """Keys of the documents with a public id; none in an index of version 0.1, which cannot be filtered."""
        if not id.strip("/") or not self.has_units:
            return ()
        documents = self.keyword.matching(Filter(under=(id,))).tolist()
        if len(documents) > MOST_NAMED:
            return ()
        nearest_passages = self.best_passages(documents, None, {})
        return tuple(key for key, nearest in nearest_passages.items() if nearest.passage.source.document == id)

    def _allowed_by(self, only: Filter | None) -> IntArray | None:
        """The documents (n,) that a filter lets through; None for all."""
        return self._allowed(replace(only, but=())) if only else None

    def keyword_hits(self, query: KeywordQuery, k: int, only: Filter | None = None) -> Hits:
        """The k best passages."""
        hits = self.keyword.search(query, k, only)
        return hits.but(only.but) if only is not None else hits

    def dense_hits(self, view: View, queries: FloatArray, k: int, only: Filter | None = None) -> list[Hits]:
        """The k nearest titles or passages of each query (Q, D)."""
        but = only.but if only is not None else ()
        allowed = self._allowed_by(only)
        by_segment = [segment.search(view, queries, k, allowed) for segment in self._segments]
        if len(by_segment) == 1:
            return [hits.but(but) for hits in by_segment[0]]
        merged = [Hits.concat([hits[i] for hits in by_segment]).ordered().at(np.s_[:k]) for i in range(len(queries))]
        return [hits.but(but) for hits in merged]

    def unit_hits(self, query: FloatArray, k: int, only: Filter | None = None) -> Hits:
        """The k passages with the best units for a query (D,); none if the index is too large to scan."""
        if self._units > SCANNED_UNITS:
            return Hits.of()
        allowed = self._allowed_by(only)
        hits = [segment.search_units(query, k, allowed) for segment in self._segments]
        best = hits[0] if len(hits) == 1 else Hits.concat(hits).ordered().at(np.s_[:k])
        return best.but(only.but) if only is not None else best

    def similarities(self, passages: IntArray, query: FloatArray) -> Similarities:
        """How similar passages, given by their keys (n,), are to a query (D,); 0 for an unknown key."""
        titles, bodies, units = np.zeros((3, len(passages)), np.float32)
        similarities = Similarities(titles, bodies, units, np.full(len(passages), -1, np.int64))
        for segment in self._segments:
            held, rows = _rows_of_passages(segment, passages)
            if len(held):
                near = segment.similarities(rows, query)
                titles[held], bodies[held], units[held] = near.titles, near.bodies, near.units
                similarities.best_units[held] = near.best_units
        return similarities

    def passages_of(self, documents: IntArray) -> tuple[IntArray, IntArray]:
        """Keys (n,) of the passages of documents, and the document of each."""
        parts = [segment.passages_of(documents) for segment in self._segments]
        keys, owners = zip(*parts, strict=True) if parts else ((), ())
        empty = np.zeros(0, np.int64)
        return np.concatenate([empty, *keys]), np.concatenate([empty, *owners])

    def unit_scores(self, passages: Sequence[int], query: FloatArray) -> dict[int, tuple[list[Span], FloatArray]]:
        """The units of passages, by key, with the cosine of each with a query (D,)."""
        keyed = np.array(passages, np.int64)
        scored: dict[int, tuple[list[Span], FloatArray]] = {}
        for segment in self._segments:
            held, rows = _rows_of_passages(segment, keyed)
            for position, row in zip(held.tolist(), rows.tolist(), strict=True):
                if segment.units is not None:
                    scored[passages[position]] = segment.units.spans(row), segment.units.scores(row, query)
        return scored

    def floors(self, query: FloatArray, only: Filter | None = None) -> tuple[float, float, float]:
        """The lowest cosine of a title, a passage and a best unit with a query (D,), from a sample."""
        allowed = self._allowed_by(only)
        floors = [low for s in self._segments if (low := s.floors(query, FLOOR_SAMPLE, allowed)) is not None]
        titles, bodies, units = zip(*floors, strict=True) if floors else ((0.0,),) * 3
        return min(titles), min(bodies), min(units)

    def passages(self, keys: Sequence[int]) -> dict[int, Passage]:
        """Passages by key."""
        keyed = np.array(keys, np.int64)
        passages: dict[int, Passage] = {}
        for segment in self._segments:
            held, rows = _rows_of_passages(segment, keyed)
            passages |= {int(keyed[i]): segment.passage(int(row)) for i, row in zip(held, rows, strict=True)}
        return passages

    def dense_state(self) -> list[DenseState]:
        """The kind of dense index of each segment and view, and its recall against a full scan."""
        return [segment.dense_state(view) for segment in self._segments for view in VIEWS]

    def best_passages(
        self, documents: Sequence[int], query: FloatArray | None, preferred: Mapping[int, int]
    ) -> dict[int, Nearest]:
        """Each document's best passage: the nearest to the query (D,) if given, else the preferred, else the first.

        Args:
            preferred: keys of passages by key of their document.
        """
        keys = np.array(documents, np.int64)
        best: dict[int, Nearest] = {}
        for segment in self._segments:
            rows = segment.rows_of(keys)
            held = rows >= 0
            if held.any():
                hints = [preferred.get(key, -1) for key in keys[held].tolist()]
                best |= zip(keys[held].tolist(), _nearest(segment, rows[held], query, hints), strict=True)
        return best


def clue_length(index: Index, documents: IntArray) -> float:
    """Mean terms of title and body of documents (n,), or of title and first snippet of one without a body.

    Of many documents it is estimated from `CLUE_SAMPLE` of them, evenly spaced.
    """
    if not len(documents):
        return 0.0
    sample = documents[distinct(np.linspace(0, len(documents) - 1, num=CLUE_SAMPLE, dtype=np.int64))]
    lengths = []
    for nearest in index.best_passages(sample.tolist(), None, {}).values():
        passage = nearest.passage
        analyse = partial(terms, language=analysis_language(passage.source.details.language))
        body = passage.clue.body or snippet(plain_text(passage.text), analyse=analyse)
        lengths.append(len(analyse(passage.clue.title)) + len(analyse(body)))
    return sum(lengths) / max(1, len(lengths))


def _rows_of_passages(segment: Segment, keys: IntArray) -> tuple[IntArray, IntArray]:
    """Which of the keys (n,) are in a segment, and the rows of those."""
    rows = np.searchsorted(segment.passages, keys)
    rows[rows == len(segment.passages)] = 0
    held = np.flatnonzero(segment.passages[rows] == keys) if len(segment.passages) else np.zeros(0, np.int64)
    return held, rows[held]


def _nearest(segment: Segment, rows: IntArray, query: FloatArray | None, preferred: Sequence[int]) -> Iterator[Nearest]:
    if query is not None:
        passages, titles, bodies = segment.nearest_passages(rows, query)
        for passage, title, body in zip(passages.tolist(), titles.tolist(), bodies.tolist(), strict=True):
            yield Nearest(segment.passage(passage), {"title_similarity": title, "passage_similarity": body})
        return
    for row, key in zip(rows.tolist(), preferred, strict=True):
        passage = int(np.searchsorted(segment.passages, key)) if key >= 0 else segment.passage_rows(row).start
        yield Nearest(segment.passage(passage), {})


def open_segments(generation: Generation) -> dict[str, Segment]:
    """The segments of a generation by name, oldest first, each with its deletions."""
    return {
        name: Segment(generation.path / "segments" / name, _alive(generation, f"alive/{name}.npy"))
        for name in Manifest.of(generation).segments
    }


def _alive(generation: Generation, name: str) -> NDArray[np.bool_] | None:
    """Mask of a segment's documents that were not deleted, or None if all are there."""
    if name not in generation.files:
        return None
    try:
        mask: NDArray[np.bool_] = map_array(generation.path / name)
    except (OSError, ValueError, EOFError) as error:
        raise CorruptIndexError(generation.path / name, error) from error
    return mask
