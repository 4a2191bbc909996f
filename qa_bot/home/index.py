"""The index of a home: a keyword index and segments of texts and vectors, read and written as one generation.

keyword/                   tantivy
segments/NAME/             see `retrievers.engines.local.segments`; hard-linked from generation to generation
alive/NAME.npy             mask of the documents that were not deleted, for segments with deletions
manifest.json              the fields of `Manifest`, and the checksum of every file
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.generations import CorruptGenerationError, Damage, Generation, link
from qa_core.mapped_arrays import map_array
from qa_core.text.analysis import ANALYSER_VERSION, terms
from qa_core.types import Encoder, FloatArray, IntArray
from retrievers.engines.index import VIEWS, Field, KeywordQuery, Nearest, View
from retrievers.engines.local.dense import Kind
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.keyword import (
    Entry,
    KeywordIndex,
    KeywordWriter,
    clone,
)
from retrievers.engines.local.segments import (
    DenseState,
    IndexedDocument,
    Segment,
    SegmentWriter,
    copy,
    merge,
    reencode,
)
from retrievers.hits import Hits

FOLDED = 512
"""Documents: the newest segments with at most so many together are copied into the next one."""
MERGE_FACTOR = 2
"""Neighbouring segments are merged if the older is less than this many times the newer …"""
LARGE, FEW = 16, 4
"""… but a segment over LARGE times all others together is not rewritten while there are at most FEW."""
FIRST_ANALYSER = "qa-bot-english/1"
"""Analyser of version 0.1, whose manifests do not name one."""


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

    @classmethod
    def of(cls, generation: Generation) -> Manifest:
        fields = {"analyser": FIRST_ANALYSER, **generation.manifest}
        return cls(**{**{name: fields[name] for name in cls.__slots__}, "segments": tuple(fields["segments"])})

    @property
    def is_outdated(self) -> bool:
        """Whether another analyser made the index, so that its terms are not those of questions."""
        return self.analyser != ANALYSER_VERSION

    def as_dict(self) -> Mapping[str, Any]:
        return asdict(self)


class Index:
    """A generation opened for reading; documents and passages are named by their keys in the store."""

    def __init__(self, generation: Generation) -> None:
        """Raises CorruptGenerationError if another analyser made the index."""
        self.generation = generation
        self.manifest = Manifest.of(generation)
        if self.manifest.is_outdated:
            detail = f"it was made with the analyser {self.manifest.analyser}, but this version has {ANALYSER_VERSION}"
            raise CorruptGenerationError(Damage("outdated", generation.path, detail))
        self.keyword = KeywordIndex(generation.path / "keyword")
        self._segments = [*open_segments(generation).values()]

    @property
    def encoder(self) -> str:
        """Name of the encoder that made the vectors."""
        return self.manifest.encoder

    @property
    def documents(self) -> int:
        """Number of entries that `document_frequency` counts over."""
        return self.keyword.documents

    def document_frequency(self, field: Field, term: str) -> int:
        """At most `documents`; tantivy itself counts deleted entries until it merges them."""
        return min(self.documents, self.keyword.document_frequency(field, term))

    def average_length(self, field: Field) -> float:
        """Mean terms of a passage with its context, or of a document's title."""
        average = self.keyword.average_length(field)
        return average if field == "all" else average * self.keyword.documents / max(1, self.manifest.documents)

    def keyword_hits(self, query: KeywordQuery, k: int) -> Hits:
        """The k best passages."""
        return self.keyword.search(query, k)

    def dense_hits(self, view: View, queries: FloatArray, k: int) -> list[Hits]:
        """The k nearest titles or passages of each query (Q, D)."""
        by_segment = [segment.search(view, queries, k) for segment in self._segments]
        if len(by_segment) == 1:
            return by_segment[0]
        return [Hits.concat([hits[i] for hits in by_segment]).ordered().at(np.s_[:k]) for i in range(len(queries))]

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


class IndexWriter:
    """Builds the next generation in a staged folder from the previous one, additions and deletions.

    If the encoder differs from the previous generation's, everything is encoded again.
    """

    def __init__(
        self,
        staged: Path,
        previous: Generation | None,
        encoder: Encoder,
        *,
        encoder_name: str,
        kind: Kind | None = None,
    ) -> None:
        """Args: `kind` of new dense indexes; by default it depends on their size."""
        assert previous is None or not Manifest.of(previous).is_outdated, "another analyser's index is not built upon"
        self._staged, self._previous, self._encoder, self._encoder_name = staged, previous, encoder, encoder_name
        self._kind = kind
        self._fresh = f"{int(staged.stem):08d}"
        self._folder = staged / "segments"
        self._deleted = array("q")

    @property
    def must_reencode(self) -> bool:
        """Whether another encoder made the previous generation."""
        return self._previous is not None and Manifest.of(self._previous).fingerprint != self._encoder.fingerprint

    @cached_property
    def _keyword(self) -> KeywordWriter:
        """Opened at the first change, so that a run without changes is cheap."""
        if self._previous:
            clone(self._previous.path / "keyword", self._staged / "keyword")
        return KeywordWriter(self._staged / "keyword")

    @cached_property
    def _segment(self) -> SegmentWriter:
        """Opened at the first addition; it starts with the documents of small segments."""
        writer = SegmentWriter(self._folder / self._fresh, self._encoder, kind=self._kind)
        copy(writer, self._folded.values())
        return writer

    @cached_property
    def _folded(self) -> dict[str, Segment]:
        """The newest segments of the previous generation that are small together, oldest first."""
        if self._previous is None or self.must_reencode:
            return {}
        segments = open_segments(self._previous)
        sizes = np.cumsum([len(segment) for segment in reversed(segments.values())])
        first = len(segments) - int(np.searchsorted(sizes, FOLDED, side="right"))
        return dict([*segments.items()][first:])

    def add(self, documents: Iterable[IndexedDocument]) -> None:
        for document in documents:
            self._keyword.add(_entries(document))
            self._segment.add(document)

    def delete(self, documents: Iterable[int]) -> None:
        """Delete documents that were added before, in this generation or an earlier one."""
        keys = list(documents)
        self._keyword.delete(keys)
        self._deleted.extend(keys)

    def finish(self) -> Manifest:
        """Commit, merge small segments, and return the generation's manifest."""
        self._keyword.commit()
        self._keyword.close()
        self._folder.mkdir(exist_ok=True)
        segments = self._inherited()
        if "_segment" in self.__dict__:
            self._segment.close()
            fresh = Segment(self._folder / self._fresh)
            _strike(fresh, self._doomed)
            segments.append((self._fresh, fresh))
        segments = self._merged(segments)
        self._write_alive(segments)
        return Manifest(
            encoder=self._encoder_name,
            fingerprint=self._encoder.fingerprint,
            dimension=self._encoder.dimension,
            documents=sum(len(segment) for _, segment in segments),
            passages=KeywordIndex(self._staged / "keyword").documents,
            segments=tuple(name for name, _ in segments),
            analyser=ANALYSER_VERSION,
        )

    def abandon(self) -> None:
        """Close the files; the caller removes the folder."""
        if "_keyword" in self.__dict__:
            self._keyword.close()
        if "_segment" in self.__dict__:
            self._segment.abandon()

    def _write_alive(self, segments: Iterable[tuple[str, Segment]]) -> None:
        folder = self._staged / "alive"
        folder.mkdir()
        for name, segment in segments:
            if segment.live_mask is not None:
                np.save(folder / f"{name}.npy", segment.live_mask)

    @property
    def _doomed(self) -> IntArray:
        return np.sort(np.array(self._deleted, np.int64))

    def _inherited(self) -> list[tuple[str, Segment]]:
        """The previous generation's segments without deleted documents, in this generation's encoder."""
        if self._previous is None:
            return []
        folded = self._folded if "_segment" in self.__dict__ else {}
        live = [
            (name, segment)
            for name, segment in open_segments(self._previous).items()
            if name not in folded and _strike(segment, self._doomed)
        ]
        if self.must_reencode:
            name = f"{self._fresh}-encoded"
            writer = SegmentWriter(self._folder / name, self._encoder, kind=self._kind)
            count = reencode(writer, [segment for _, segment in live])
            return [(name, Segment(self._folder / name))] if count else []
        for name, _ in live:
            link(self._previous, f"segments/{name}", self._staged)
        return live

    def _merged(self, segments: list[tuple[str, Segment]]) -> list[tuple[str, Segment]]:
        """Merge the newest segments while they are of similar size, and rewrite segments that are mostly deleted."""
        start = _first_to_merge(segments)
        if start is None:
            return segments
        name = f"{self._fresh}-merged"
        writer = SegmentWriter(self._folder / name, self._encoder, kind=self._kind)
        merge(writer, [segment for _, segment in segments[start:]])
        for old, _ in segments[start:]:
            shutil.rmtree(self._folder / old)
        return [*segments[:start], (name, Segment(self._folder / name))]


def _nearest(segment: Segment, rows: IntArray, query: FloatArray | None, preferred: Sequence[int]) -> Iterator[Nearest]:
    if query is not None:
        passages, titles, bodies = segment.nearest_passages(rows, query)
        for passage, title, body in zip(passages.tolist(), titles.tolist(), bodies.tolist(), strict=True):
            yield Nearest(segment.passage(passage), {"title_similarity": title, "passage_similarity": body})
        return
    for row, key in zip(rows.tolist(), preferred, strict=True):
        passage = int(np.searchsorted(segment.passages, key)) if key >= 0 else segment.passage_rows(row).start
        yield Nearest(segment.passage(passage), {})


def _first_to_merge(segments: Sequence[tuple[str, Segment]]) -> int | None:
    """Index of the first of the segments that become one, or None to leave all unchanged."""
    sizes = [len(segment) for _, segment in segments]
    sparse = [i for i, (_, segment) in enumerate(segments) if len(segment) < segment.size / 2]
    start = max(0, len(sizes) - 1)
    while start and sizes[start - 1] < MERGE_FACTOR * sum(sizes[start:]):
        start -= 1
    if len(sizes) <= FEW and max(sizes, default=0) > LARGE * (sum(sizes) - max(sizes, default=0)):
        start = len(sizes)
    start = min([start, *sparse])
    return start if sparse or start < len(sizes) - 1 else None


def _entries(document: IndexedDocument) -> Iterator[Entry]:
    """Keyword entries of a document's passages; all hold the context, only the first holds the title."""
    context = terms(f"{document.title} {document.body}")
    title = terms(document.title)
    for passage in document.passages:
        yield Entry(passage.key, document.key, title, [*context, *terms(passage.text)])
        title = []


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


def _strike(segment: Segment, doomed: IntArray) -> bool:
    """Mark deleted documents in a segment's mask; return whether any document is left."""
    struck = np.isin(segment.documents, doomed)
    if struck.any():
        segment.live_mask = ~struck if segment.live_mask is None else segment.live_mask & ~struck
    return len(segment) > 0
