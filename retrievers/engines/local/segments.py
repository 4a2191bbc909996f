"""Segments: immutable bundles of passages with their texts, their documents' titles and the vectors of both.

    records.bin, record_ends.npy     id, title, body, url, collection and details of each document, as JSON
    documents.npy, firsts.npy        keys of the documents, ascending; the first passage row of each
    texts.bin, text_ends.npy         texts of the passages, UTF-8
    places.bin, place_ends.npy       place of each passage, as JSON (absent in segments of version 0.1)
    passages.npy, owners.npy         keys of the passages, ascending; the document row of each
    titles/, bodies/                 dense indexes over titles (a row per document) and passages (a row per passage)
    units/                           vectors of sentences, items and rows, see `units` (absent in segments of 0.1)

A generation of the index is a list of segments with a mask of the live documents in each. Every addition writes a new
segment. Neighbours of similar size are merged, so a home has about log2(documents) segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from qa_core.distinct import distinct
from qa_core.mapped_arrays import map_array
from qa_core.types import (
    NO_DETAILS,
    NO_PLACE,
    Clue,
    Details,
    Encoder,
    FloatArray,
    IntArray,
    Passage,
    Place,
    Source,
    Span,
    details_of,
    known_fields,
    place_of,
)
from retrievers.engines.index import VIEWS, Similarities, View
from retrievers.engines.local.columns import Blob, Column, Slices
from retrievers.engines.local.dense import DenseIndex, Kind, LiveMask, recall
from retrievers.engines.local.dense_writer import build
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.indexed_documents import IndexedDocument as IndexedDocument
from retrievers.engines.local.indexed_documents import IndexedPassage as IndexedPassage
from retrievers.engines.local.indexed_documents import encoded_texts
from retrievers.engines.local.indexed_documents import facets_of as facets_of
from retrievers.engines.local.masks import RowMasks
from retrievers.engines.local.units import BestUnits, Units, UnitWriter, quantise
from retrievers.hits import Hits

ENCODE_BATCH = 512  # passages
PROBES, NEAREST = 50, 10
"""Number of queries that measure the recall of a dense index, and of rows per query."""
SCANNED_PASSAGES = 8_000
"""Passages up to which all units are compared with a question."""
NEAREST_PASSAGES = 2_000
"""Passages of a larger segment whose units are. Over the 33,091 passages of LiveQA-Med 1,000 of them leave nDCG@10 and
the recall of 100 documents as a scan of all units has them."""


class DenseState(NamedTuple):
    """A dense index over `rows`; `recall` is the share of the ten nearest rows that it finds."""

    view: View
    kind: Kind
    rows: int
    recall: float


class SegmentWriter:
    """Writes a segment document by document, in ascending order of keys, in bounded memory."""

    def __init__(self, folder: Path, encoder: Encoder, *, kind: Kind | None = None) -> None:
        """`kind` is the kind of the dense indexes, by default chosen by their size."""
        folder.mkdir(parents=True)
        self._folder, self._encoder, self._kind = folder, encoder, kind
        self._records, self._texts, self._places = (Blob(folder, name) for name in ("record", "text", "place"))
        self._documents, self._firsts = Column(folder / "documents.npy"), Column(folder / "firsts.npy")
        self._passages, self._owners = Column(folder / "passages.npy"), Column(folder / "owners.npy", np.int32)
        self._last_key = -1
        self._vectors: dict[View, BinaryIO] = {v: (folder / f"{v}.f32").open("wb") for v in VIEWS}
        self._units = UnitWriter(folder / "units", encoder.dimension)
        self._pending: list[IndexedDocument] = []
        self._pending_passages = 0

    def add(self, document: IndexedDocument) -> None:
        """Add a document, which is encoded in a batch with its neighbours."""
        self._pending.append(document)
        self._pending_passages += len(document.passages)
        if self._pending_passages >= ENCODE_BATCH:
            self._flush()

    def copy(
        self, document: IndexedDocument, title: FloatArray, bodies: FloatArray, units: Sequence[NDArray[np.int8]]
    ) -> None:
        """Add a document with known vectors: (D,) of its title, (P, D) of its passages, codes of each one's units."""
        self._flush()
        self._write(document)
        self._vectors["titles"].write(np.ascontiguousarray(title, np.float32).tobytes())
        self._vectors["bodies"].write(np.ascontiguousarray(bodies, np.float32).tobytes())
        for passage, codes in zip(document.passages, units, strict=True):
            self._units.add(passage.units, codes)

    def close(self) -> int:
        """Write pending documents and the dense indexes; return the number of documents."""
        self._flush()
        self._firsts.append(len(self._passages))
        for file in self._files():
            file.close()
        for view in self._vectors:
            self._build(view)
        return len(self._documents)

    def abandon(self) -> None:
        """Close the files unfinished; the caller removes the folder."""
        for file in self._files():
            with suppress(OSError, ValueError):  # a full disk may refuse the last buffer, which is not needed
                file.close()

    def _files(self) -> tuple[Blob | Column | BinaryIO | UnitWriter, ...]:
        columns = self._documents, self._firsts, self._passages, self._owners
        return self._records, self._texts, self._places, *columns, *self._vectors.values(), self._units

    def _build(self, view: View) -> None:
        raw, width = self._folder / f"{view}.f32", self._encoder.dimension
        rows = len(self._documents) if view == "titles" else len(self._passages)
        vectors = np.memmap(raw, np.float32, "r", shape=(rows, width)) if rows else np.zeros((0, width), np.float32)
        build(self._folder / view, vectors, kind=self._kind)
        del vectors
        raw.unlink()

    def _flush(self) -> None:
        if not self._pending:
            return
        titles, answers = encoded_texts(self._pending)
        self._vectors["titles"].write(self._encoder.encode(titles, side="question").tobytes())
        if self._pending_passages:
            bodies = answers[: self._pending_passages]
            self._vectors["bodies"].write(self._encoder.encode(bodies, side="answer").tobytes())
        self._encode_units(
            [passage for document in self._pending for passage in document.passages], answers[self._pending_passages :]
        )
        for document in self._pending:
            self._write(document)
        self._pending, self._pending_passages = [], 0

    def _encode_units(self, passages: Sequence[IndexedPassage], texts: Sequence[str]) -> None:
        codes = np.zeros((0, self._encoder.dimension), np.int8)
        if texts:
            codes = quantise(self._encoder.encode(texts, side="answer"))
        first = 0
        for passage in passages:
            self._units.add(passage.units, codes[first : first + len(passage.units)])
            first += len(passage.units)

    def _write(self, document: IndexedDocument) -> None:
        assert document.key > self._last_key, "documents are added in ascending order of keys"
        self._last_key = document.key
        details = known_fields(document.details)
        self._records.append(
            orjson.dumps([document.id, document.title, document.body, document.url, document.collection, details])
        )
        self._firsts.append(len(self._passages))
        for passage in document.passages:
            self._texts.append(passage.text.encode("utf-8", "replace"))
            self._places.append(orjson.dumps(known_fields(passage.place)))
            self._passages.append(passage.key)
            self._owners.append(len(self._documents))
        self._documents.append(document.key)


class Segment:
    """A segment opened for reading, memory-mapped; `live_mask` (N,) is true for documents that are not deleted."""

    def __init__(self, folder: Path, live_mask: LiveMask | None = None) -> None:
        try:
            self.documents = map_array(folder / "documents.npy")
            self.passages = map_array(folder / "passages.npy")
            self._firsts = map_array(folder / "firsts.npy")
            self._owners = map_array(folder / "owners.npy")
            self._records = Slices.open(folder, "record")
            self._texts = Slices.open(folder, "text")
            has_places = (folder / "places.bin").exists()
            self._places = Slices.open(folder, "place") if has_places else None
        except (OSError, ValueError, EOFError) as error:
            raise CorruptIndexError(folder, error) from error
        self._dense: dict[View, DenseIndex] = {v: DenseIndex.open(folder / v) for v in VIEWS}
        self.units = Units(folder / "units") if (folder / "units").exists() else None
        self.live_mask = live_mask
        self._masks = RowMasks(self.documents, self._owners)

    def __len__(self) -> int:
        return len(self.documents) if self.live_mask is None else int(self.live_mask.sum())

    @property
    def size(self) -> int:
        """Documents in the files, deleted ones included."""
        return len(self.documents)

    def search(self, view: View, queries: FloatArray, k: int, only: IntArray | None = None) -> list[Hits]:
        """The k nearest live rows of each query, (Q, D), best first; of these documents only, if given."""
        scores, rows = self._dense[view].search(queries, k, live_mask=self._row_mask(view, only))
        full = bool((rows[:, -1:] >= 0).all())  # the usual case: no padding
        return [
            self._hits(view, s, r) if full else self._hits(view, s[r >= 0], r[r >= 0])
            for s, r in zip(scores, rows, strict=True)
        ]

    def dense_state(self, view: View) -> DenseState:
        """Kind, size and recall of a dense index, measured with some of its rows as queries."""
        dense = self._dense[view]
        probes = np.linspace(0, max(0, len(dense) - 1), num=min(len(dense), PROBES), dtype=np.int64)
        return DenseState(view, dense.kind, len(dense), recall(dense, dense.rows(probes), NEAREST))

    def rows_of(self, documents: IntArray) -> IntArray:
        """The rows (n,) of documents, −1 for one that is absent or deleted."""
        rows = np.searchsorted(self.documents, documents)
        rows[rows == self.size] = 0
        present = (self.documents[rows] == documents) if self.size else np.zeros(len(documents), bool)
        if self.live_mask is not None and self.size:
            present &= self.live_mask[rows]
        return np.where(present, rows, -1)

    def nearest_passages(self, rows: IntArray, query: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """For each document row (n,) the passage row nearest to a query (D,), and the cosines of title and passage."""
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

    def search_units(self, query: FloatArray, k: int, only: IntArray | None = None) -> Hits:
        """The k live passages with the best units for a query (D,).

        In a large segment they are chosen among the passages nearest to the query.
        """
        if self.units is None:
            return Hits.of()
        mask = self._row_mask("bodies", only)
        if len(self.passages) > SCANNED_PASSAGES:
            nearest = self._dense["bodies"].search(query[None], NEAREST_PASSAGES, live_mask=mask)[1][0]
            rows = nearest[nearest >= 0]
            scores = self.units.best(rows, query).scores
        else:
            rows = np.arange(len(self.passages)) if mask is None else np.flatnonzero(mask)
            scores = self.units.best_of_all(query).scores[rows]
        positive = np.flatnonzero(scores > 0)
        if len(positive) > k:
            positive = positive[np.argpartition(-scores[positive], k - 1)[:k]]
        return self._hits("bodies", scores[positive], rows[positive]).ordered()

    def similarities(self, rows: IntArray, query: FloatArray) -> Similarities:
        """Cosines of passage rows (n,) with a query (D,)."""
        none = BestUnits(np.zeros(len(rows), np.float32), np.full(len(rows), -1, np.int64))
        best = self.units.best(rows, query) if self.units else none
        titles = self._dense["titles"].scores(self._owners[rows], query)
        return Similarities(titles, self._dense["bodies"].scores(rows, query), *best)

    def floors(self, query: FloatArray, sample: int, only: IntArray | None = None) -> tuple[float, float, float] | None:
        """The lowest cosines of titles, passages and best units with a query (D,), in an evenly spaced sample.

        `only` are the documents to take it from; None if the segment has no passage of theirs.
        """
        mask = None if only is None else self._row_mask("bodies", only)
        among = np.arange(len(self.passages)) if mask is None else np.flatnonzero(mask)
        if not len(among):
            return None
        rows = among[distinct(np.linspace(0, len(among) - 1, num=sample, dtype=np.int64))]
        titles, bodies, units, _ = self.similarities(rows, query)
        return float(titles.min()), float(bodies.min()), float(units.min())

    def passages_of(self, documents: IntArray) -> tuple[IntArray, IntArray]:
        """Keys (n,) of the passages of live documents, and the document of each."""
        rows = self.rows_of(documents)
        ranges = [self.passage_rows(row) for row in rows[rows >= 0].tolist()]
        chosen = np.concatenate([np.zeros(0, np.int64), *(np.arange(r.start, r.stop) for r in ranges)])
        return self.passages[chosen], self.documents[self._owners[chosen]]

    def passage_rows(self, row: int) -> range:
        return range(int(self._firsts[row]), int(self._firsts[row + 1]))

    def vectors(self, view: View, rows: IntArray) -> FloatArray:
        """(n, D)"""
        return self._dense[view].rows(rows)

    def passage(self, row: int) -> Passage:
        """A passage with its clue and source; its public id is `DOCUMENT#POSITION`."""
        owner = int(self._owners[row])
        id_, title, body, url, collection, details = self._record(owner)
        source = Source(id_, title, url, collection, details)
        position = row - int(self._firsts[owner])
        return Passage(f"{id_}#{position}", self._text(row), Clue(title, body), source, self._place(row))

    def document(self, row: int) -> IndexedDocument:
        id_, title, body, url, collection, details = self._record(row)
        passages = tuple(
            IndexedPassage(int(self.passages[p]), self._text(p), self._place(p), self._units_of(p))
            for p in self.passage_rows(row)
        )
        return IndexedDocument(int(self.documents[row]), id_, title, body, url, collection, passages, details)

    def _units_of(self, row: int) -> tuple[Span, ...]:
        return tuple(self.units.spans(row)) if self.units else ()

    def facet_values(self, field: Literal["collection", "folder", "language"]) -> set[tuple[str, str]]:
        """All values of a field of the live documents that filters look at, each with the collections that have it."""
        values: set[tuple[str, str]] = set()
        for row in self.live_rows():
            id_, title, body, url, collection, details = self._record(row)
            facets = facets_of(IndexedDocument(row, id_, title, body, url, collection, (), details))
            of_document = facets.folders if field == "folder" else [getattr(facets, field)]
            values.update((value, collection) for value in of_document if value)
        return values

    def live_documents(self) -> IntArray:
        """Keys (n,) of the documents that are not deleted, ascending."""
        live: IntArray = np.asarray(self.documents if self.live_mask is None else self.documents[self.live_mask])
        return live

    def live_rows(self) -> Iterator[int]:
        return iter(range(self.size)) if self.live_mask is None else map(int, np.flatnonzero(self.live_mask))

    def _record(self, row: int) -> tuple[str, str, str, str, str, Details]:
        """Id, title, body, URL, collection and details; those of version 0.1 have no details."""
        id_, title, body, url, collection, *details = orjson.loads(self._records[row])
        return id_, title, body, url, collection, details_of(details[0]) if details else NO_DETAILS

    def _place(self, row: int) -> Place:
        return place_of(orjson.loads(self._places[row])) if self._places else NO_PLACE

    def _text(self, row: int) -> str:
        return str(self._texts[row], "utf-8")

    def _hits(self, view: View, scores: FloatArray, rows: IntArray) -> Hits:
        if view == "titles":
            return Hits(self.documents[rows], np.full(len(rows), -1), scores)
        return Hits(self.documents[self._owners[rows]], self.passages[rows], scores)

    def _row_mask(self, view: View, only: IntArray | None) -> LiveMask | None:
        return self._masks.of(view, self.live_mask, only)


def merge(writer: SegmentWriter, segments: Iterable[Segment]) -> int:
    """Write the live documents of neighbouring segments, oldest first, as one segment; return their number."""
    copy(writer, segments)
    return writer.close()


def copy(writer: SegmentWriter, segments: Iterable[Segment]) -> None:
    """Add the live documents of neighbouring segments, oldest first, with their vectors."""
    for segment in segments:
        for row in segment.live_rows():
            bodies = segment.vectors("bodies", np.array(segment.passage_rows(row), np.int64))
            title = segment.vectors("titles", np.array([row], np.int64))
            document = segment.document(row)
            assert segment.units is not None, "a segment without units is encoded anew"
            units = [segment.units.of_passage(passage) for passage in segment.passage_rows(row)]
            writer.copy(document, title, bodies, units)


def reencode(writer: SegmentWriter, segments: Iterable[Segment]) -> int:
    """Write the live documents of all segments as one, encoded anew; return their number."""
    for segment in segments:
        for row in segment.live_rows():
            writer.add(segment.document(row))
    return writer.close()
