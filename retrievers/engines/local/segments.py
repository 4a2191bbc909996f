"""Segments: immutable bundles of passages with their texts, their documents' titles and the vectors of both.

    records.bin, record_ends.npy     a document's id, title, body, url and collection, as JSON
    documents.npy, firsts.npy        keys of the documents, ascending; the first passage row of each
    texts.bin, text_ends.npy         the passages' texts, UTF-8
    passages.npy, owners.npy         keys of the passages, ascending; the document row of each
    titles/, bodies/                 dense indexes over clue titles (a row a document) and passages (a row a passage)

A generation of the index is a list of segments and, for each, the documents that are still live. Adding writes one
more segment; neighbours of like size are merged, so that a home keeps about log2(documents) of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import orjson
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from qa_core.types import Clue, Encoder, FloatArray, IntArray, Passage, Source
from retrievers.engines.index import VIEWS, View
from retrievers.engines.local.dense import DenseIndex, Kind, build, recall
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.hits import Hits

LiveMask = NDArray[np.bool_]

ENCODE_AT_ONCE = 512
NUMBERS_AT_ONCE = 4096
PROBED, NEAREST = 50, 10
"""Questions by which a dense index tells its recall, and how many rows each asks for."""


class IndexedPassage(NamedTuple):
    key: int
    text: str


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document as the index takes it; passages in reading order."""

    key: int
    id: str
    title: str
    body: str
    url: str
    collection: str
    passages: tuple[IndexedPassage, ...]


class DenseState(NamedTuple):
    """A dense index of `rows`; `recall` is the share of the nearest ten that it finds."""

    view: View
    kind: Kind
    rows: int
    recall: float


class SegmentWriter:
    """Writes a segment document by document, in ascending order of keys, with memory that does not grow with it."""

    def __init__(self, folder: Path, encoder: Encoder, *, kind: Kind | None = None) -> None:
        """`kind` is that of the dense indexes, by default what suits their size."""
        folder.mkdir(parents=True)
        self._folder, self._encoder, self._kind = folder, encoder, kind
        self._records, self._texts = _Blob(folder, "record"), _Blob(folder, "text")
        self._documents, self._firsts = _Column(folder / "documents.npy"), _Column(folder / "firsts.npy")
        self._passages, self._owners = _Column(folder / "passages.npy"), _Column(folder / "owners.npy", np.int32)
        self._last = -1  # key of the last document
        self._vectors: dict[View, BinaryIO] = {v: (folder / f"{v}.f32").open("wb") for v in VIEWS}
        self._waiting: list[IndexedDocument] = []
        self._waiting_passages = 0

    def add(self, document: IndexedDocument) -> None:
        """Take a document; it is encoded together with its neighbours."""
        self._waiting.append(document)
        self._waiting_passages += len(document.passages)
        if self._waiting_passages >= ENCODE_AT_ONCE:
            self._flush()

    def copy(self, document: IndexedDocument, title: FloatArray, bodies: FloatArray) -> None:
        """Take a document whose vectors, (D,) and (P, D), are known already: merging encodes nothing."""
        self._flush()
        self._write(document)
        self._vectors["titles"].write(np.ascontiguousarray(title, np.float32).tobytes())
        self._vectors["bodies"].write(np.ascontiguousarray(bodies, np.float32).tobytes())

    def close(self) -> int:
        """Write what is left and the dense indexes; how many documents the segment has."""
        self._flush()
        self._firsts.append(len(self._passages))
        for file in self._files():
            file.close()
        for view in self._vectors:
            self._build(view)
        return len(self._documents)

    def abandon(self) -> None:
        """Close the files as they are; whoever gives up removes the folder."""
        for file in self._files():
            with suppress(OSError, ValueError):  # what a full disk did not take is not wanted any more
                file.close()

    def _files(self) -> tuple[_Blob | _Column | BinaryIO, ...]:
        columns = self._documents, self._firsts, self._passages, self._owners
        return self._records, self._texts, *columns, *self._vectors.values()

    def _build(self, view: View) -> None:
        raw, width = self._folder / f"{view}.f32", self._encoder.dimension
        rows = len(self._documents) if view == "titles" else len(self._passages)
        vectors = np.memmap(raw, np.float32, "r", shape=(rows, width)) if rows else np.zeros((0, width), np.float32)
        build(self._folder / view, vectors, kind=self._kind)
        del vectors
        raw.unlink()

    def _flush(self) -> None:
        if not self._waiting:
            return
        titles = [document.title for document in self._waiting]
        bodies = [body_text(d.title, p.text) for d in self._waiting for p in d.passages]
        self._vectors["titles"].write(self._encoder.encode(titles, side="question").tobytes())
        if bodies:
            self._vectors["bodies"].write(self._encoder.encode(bodies, side="answer").tobytes())
        for document in self._waiting:
            self._write(document)
        self._waiting, self._waiting_passages = [], 0

    def _write(self, document: IndexedDocument) -> None:
        assert document.key > self._last, "documents come in ascending order"
        self._last = document.key
        self._records.append(
            orjson.dumps([document.id, document.title, document.body, document.url, document.collection])
        )
        self._firsts.append(len(self._passages))
        for passage in document.passages:
            self._texts.append(passage.text.encode("utf-8", "replace"))
            self._passages.append(passage.key)
            self._owners.append(len(self._documents))
        self._documents.append(document.key)


class Segment:
    """A segment opened for reading, memory-mapped; `live_mask` marks the documents that were not deleted since."""

    def __init__(self, folder: Path, live_mask: LiveMask | None = None) -> None:
        try:
            self.documents = _array(folder / "documents.npy")
            self.passages = _array(folder / "passages.npy")
            self._firsts = _array(folder / "firsts.npy")
            self._owners = _array(folder / "owners.npy")
            self._records = _Slices.open(folder, "record")
            self._texts = _Slices.open(folder, "text")
        except (OSError, ValueError, EOFError) as error:
            raise CorruptIndexError(folder, error) from error
        self._dense: dict[View, DenseIndex] = {v: DenseIndex.open(folder / v) for v in VIEWS}
        self.live_mask = live_mask

    def __len__(self) -> int:
        return len(self.documents) if self.live_mask is None else int(self.live_mask.sum())

    @property
    def size(self) -> int:
        """Documents in the files, dead ones too."""
        return len(self.documents)

    def search(self, view: View, queries: FloatArray, k: int) -> list[Hits]:
        """The k nearest live rows of each query, (Q, D), best first."""
        scores, rows = self._dense[view].search(queries, k, live_mask=self._alive_rows(view))
        whole = bool((rows[:, -1:] >= 0).all())  # as nearly always
        return [
            self._hits(view, s, r) if whole else self._hits(view, s[r >= 0], r[r >= 0])
            for s, r in zip(scores, rows, strict=True)
        ]

    def dense_state(self, view: View) -> DenseState:
        """Asked with rows of its own."""
        dense = self._dense[view]
        asked = np.linspace(0, max(0, len(dense) - 1), num=min(len(dense), PROBED), dtype=np.int64)
        return DenseState(view, dense.kind, len(dense), recall(dense, dense.rows(asked), NEAREST))

    def rows_of(self, documents: IntArray) -> IntArray:
        """The rows of documents, (n,), −1 where one is absent or deleted."""
        rows = np.searchsorted(self.documents, documents)
        rows[rows == self.size] = 0
        here = (self.documents[rows] == documents) if self.size else np.zeros(len(documents), bool)
        if self.live_mask is not None and self.size:
            here &= self.live_mask[rows]
        return np.where(here, rows, -1)

    def nearest_passages(self, rows: IntArray, query: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """For each document row the passage row nearest to a query (D,); cosines of titles and of those passages."""
        starts, stops = self._firsts[rows], self._firsts[rows + 1]
        counts = stops - starts
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        candidates = np.repeat(starts, counts) + within
        bodies = self._dense["bodies"].scores(candidates, query)
        owner = np.repeat(np.arange(len(rows)), counts)
        order = np.lexsort((candidates, -bodies, owner))
        first = order[np.searchsorted(owner[order], np.arange(len(rows)))]
        titles = self._dense["titles"].scores(rows, query)
        return candidates[first], titles, bodies[first]

    def passage_rows(self, row: int) -> range:
        return range(int(self._firsts[row]), int(self._firsts[row + 1]))

    def vectors(self, view: View, rows: IntArray) -> FloatArray:
        """(n, D)"""
        return self._dense[view].rows(rows)

    def passage(self, row: int) -> Passage:
        """A passage with its clue and source. Its public id is `DOCUMENT#POSITION`."""
        owner = int(self._owners[row])
        id_, title, body, url, collection = self._record(owner)
        position = row - int(self._firsts[owner])
        return Passage(f"{id_}#{position}", self._text(row), Clue(title, body), Source(id_, title, url, collection))

    def document(self, row: int) -> IndexedDocument:
        id_, title, body, url, collection = self._record(row)
        passages = tuple(IndexedPassage(int(self.passages[p]), self._text(p)) for p in self.passage_rows(row))
        return IndexedDocument(int(self.documents[row]), id_, title, body, url, collection, passages)

    def live_rows(self) -> Iterator[int]:
        return iter(range(self.size)) if self.live_mask is None else map(int, np.flatnonzero(self.live_mask))

    def _record(self, row: int) -> Sequence[str]:
        fields: list[str] = orjson.loads(self._records[row])
        return fields

    def _text(self, row: int) -> str:
        return str(self._texts[row], "utf-8")

    def _hits(self, view: View, scores: FloatArray, rows: IntArray) -> Hits:
        if view == "titles":
            return Hits(self.documents[rows], np.full(len(rows), -1), scores)
        return Hits(self.documents[self._owners[rows]], self.passages[rows], scores)

    def _alive_rows(self, view: View) -> LiveMask | None:
        if self.live_mask is None or view == "titles":
            return self.live_mask
        live_mask: LiveMask = self.live_mask[self._owners]
        return live_mask


def body_text(title: str, passage: str) -> str:
    """What is encoded for a passage: its title says what an answer that begins with "It is …" is about."""
    return f"{title}\n{passage}" if title else passage


def merge(writer: SegmentWriter, segments: Iterable[Segment]) -> int:
    """Write the live documents of neighbouring segments, oldest first, as one; how many there are."""
    copy(writer, segments)
    return writer.close()


def copy(writer: SegmentWriter, segments: Iterable[Segment]) -> None:
    """Write the live documents of neighbouring segments, oldest first, with the vectors that they have."""
    for segment in segments:
        for row in segment.live_rows():
            bodies = segment.vectors("bodies", np.array(segment.passage_rows(row), np.int64))
            title = segment.vectors("titles", np.array([row], np.int64))
            writer.copy(segment.document(row), title, bodies)


def reencode(writer: SegmentWriter, segments: Iterable[Segment]) -> int:
    """Write the live documents of all segments as one with the vectors of the writer's encoder."""
    for segment in segments:
        for row in segment.live_rows():
            writer.add(segment.document(row))
    return writer.close()


class _Column:
    """Appends whole numbers to an `.npy` file, and writes its header again when it is known how many they are."""

    def __init__(self, path: Path, kind: type[np.signedinteger[Any]] = np.int64) -> None:
        self._kind, self._waiting, self._written = np.dtype(kind), array("q"), 0
        self._file = path.open("wb")
        self._head()

    def __len__(self) -> int:
        return self._written + len(self._waiting)

    def append(self, number: int) -> None:
        self._waiting.append(number)
        if len(self._waiting) == NUMBERS_AT_ONCE:
            self._flush()

    def close(self) -> None:
        try:
            self._flush()
            self._file.seek(0)
            self._head()
        finally:
            self._file.close()

    def _flush(self) -> None:
        self._file.write(np.array(self._waiting, self._kind).data)
        self._written += len(self._waiting)
        del self._waiting[:]

    def _head(self) -> None:
        """numpy leaves room in a header for a greater number, so that the rows need not move."""
        told = {"descr": self._kind.str, "fortran_order": False, "shape": (self._written,)}
        write_array_header_1_0(self._file, told)


class _Blob:
    """Appends byte strings to one file and tells another where each ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = (folder / f"{name}s.bin").open("wb")
        self._ends = _Column(folder / f"{name}_ends.npy")
        self._ends.append(0)
        self._end = 0

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._end += len(data)
        self._ends.append(self._end)

    def close(self) -> None:
        try:
            self._file.close()
        finally:
            self._ends.close()


def _array(path: Path) -> NDArray[Any]:
    """A mapped array as a plain one: numpy's memory-map class is slow to index."""
    return np.asarray(np.load(path, mmap_mode="r"))


def _mapped(path: Path) -> NDArray[np.uint8]:
    return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, np.uint8)


@dataclass(frozen=True, slots=True)
class _Slices:
    """What `_Blob` wrote, mapped; one slice at a time is read much faster from a memory view than from an array."""

    data: memoryview
    ends: memoryview  # whole numbers, one more than there are slices

    @classmethod
    def open(cls, folder: Path, name: str) -> Self:
        ends = np.ascontiguousarray(_array(folder / f"{name}_ends.npy"), np.int64)
        return cls(_mapped(folder / f"{name}s.bin").data, ends.data)

    def __getitem__(self, row: int) -> memoryview:
        return self.data[self.ends[row] : self.ends[row + 1]]
