"""Writes the next generation of a home's index from the previous one, additions and deletions."""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qa_bot.home.generations import Generation, link
from qa_bot.home.index import Manifest, open_segments
from qa_core.text.analysis import ANALYSER_VERSION, joined_ngrams, terms
from qa_core.text.markdown_text import plain_text
from qa_core.types import Encoder, IntArray
from retrievers.engines.local.dense import Kind
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter, clone
from retrievers.engines.local.segments import (
    IndexedDocument,
    Segment,
    SegmentWriter,
    copy,
    facets_of,
    merge,
    reencode,
)

FOLDED = 512
"""Documents: the newest segments with at most so many together are copied into the next one."""
MERGE_FACTOR = 2
"""Neighbouring segments are merged if the older is less than this many times the newer …"""
LARGE, FEW = 16, 4
"""… but a segment over LARGE times all others together is not rewritten while there are at most FEW."""


class Fallback(NamedTuple):
    """A quicker encoder, which encodes everything if more than `most` passages are added."""

    encoder: Encoder
    name: str
    most: int


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
        fallback: Fallback | None = None,
    ) -> None:
        """Args: `kind` of new dense indexes; by default it depends on their size."""
        assert previous is None or not Manifest.of(previous).is_outdated, "another analyser's index is not built upon"
        self._staged, self._previous, self._encoder, self._encoder_name = staged, previous, encoder, encoder_name
        self._kind, self._fallback = kind, fallback
        self._waiting: list[IndexedDocument] = []
        self._waiting_passages = 0
        self.fell_back = False
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
            if self._fallback is None:
                self._segment.add(document)
            else:
                self._wait(document)

    def _wait(self, document: IndexedDocument) -> None:
        """Encode a document later: when all are there, or with the fallback when there are too many."""
        self._waiting.append(document)
        self._waiting_passages += len(document.passages)
        if self._fallback and self._waiting_passages > self._fallback.most:
            self._encoder, self._encoder_name, _ = self._fallback
            self.fell_back = True
            self._encode_waiting()

    def _encode_waiting(self) -> None:
        self._fallback = None
        for document in self._waiting:
            self._segment.add(document)
        self._waiting.clear()

    def delete(self, documents: Iterable[int]) -> None:
        """Delete documents that were added before, in this generation or an earlier one."""
        keys = list(documents)
        self._keyword.delete(keys)
        self._deleted.extend(keys)

    def finish(self) -> Manifest:
        """Commit, merge small segments, and return the generation's manifest."""
        self._encode_waiting()
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
    language = document.details.language
    context = terms(f"{document.title} {document.body}", language)
    title = terms(document.title, language)
    facets = facets_of(document)
    for passage in document.passages:
        if passage.place.kind == "boilerplate":
            yield Entry(passage.key, document.key, [], [], "", facets)
            continue
        heading, plain = " ".join(passage.place.heading), plain_text(passage.text)
        grams = joined_ngrams(f"{document.title} {document.body} {heading} {plain}")
        yield Entry(
            passage.key,
            document.key,
            title,
            [*context, *terms(heading, language), *terms(plain, language)],
            grams,
            facets,
        )
        title = []


def _strike(segment: Segment, doomed: IntArray) -> bool:
    """Mark deleted documents in a segment's mask; return whether any document is left."""
    struck = np.isin(segment.documents, doomed)
    if struck.any():
        segment.live_mask = ~struck if segment.live_mask is None else segment.live_mask & ~struck
    return len(segment) > 0
