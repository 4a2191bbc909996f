"""Documents of the database, compared with their checksums and with the copies in the index."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from qa_bot.home.generations import CorruptGenerationError, Generation, Generations
from qa_bot.home.index import open_segments
from qa_bot.home.store import Store
from qa_bot.home.store.integrity.keys import examples, retired_by_unfinished
from qa_bot.home.store.integrity.rows import Content
from qa_core.types import IntArray, known_fields
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.segments import IndexedDocument, Segment

NAMED = 5
"""Documents that a message names."""


class AlteredDocument(NamedTuple):
    """A document whose rows differ from what was stored."""

    key: int
    id: str
    collection: str

    @property
    def name(self) -> str:
        return f"{self.id} ({self.collection})"


class IndexCopies:
    """The documents of an undamaged index, by key."""

    def __init__(self, segments: Mapping[str, Segment], number: int) -> None:
        """Args: `number` is that of their generation."""
        self._segments, self.number = list(segments.values()), number

    @classmethod
    def of(cls, generations: Generations, generation: Generation | None) -> IndexCopies | None:
        """None if there is no index, or a damaged one."""
        if generation is None or generations.verify(generation, deep=True):
            return None
        try:
            return cls(open_segments(generation), generation.number)
        except (CorruptIndexError, CorruptGenerationError, OSError):
            return None

    @property
    def keys(self) -> IntArray:
        """The keys of all live documents, ascending."""
        live = [segment.documents[list(segment.live_rows())] for segment in self._segments]
        return np.sort(np.concatenate(live)) if live else np.zeros(0, np.int64)

    def get(self, key: int) -> IndexedDocument | None:
        for segment in self._segments:
            row = int(segment.rows_of(np.array([key], np.int64))[0])
            if row >= 0:
                return segment.document(row)
        return None


class RenamedCollection(NamedTuple):
    """A collection of the database that has another name in the index."""

    key: int
    name: str
    in_index: str


class Comparison(NamedTuple):
    """Result of comparing the documents of a database."""

    checked: int
    altered: list[AlteredDocument]
    missing: IntArray
    """Keys of documents of the index that the database lacks."""
    renamed: list[RenamedCollection]


def compare(store: Store, copies: IndexCopies | None) -> Comparison:
    """Compare all documents; memory holds one page of them, their keys and the altered ones."""
    keys, altered = array("q"), []
    for document in store.integrity.documents():
        keys.append(document.key)
        is_altered = document.state == "altered"
        if document.state == "unsealed" and copies is not None:
            content, copy = store.integrity.content(document.key), copies.get(document.key)
            is_altered = content is None or (copy is not None and not is_copy(content, copy))
        if is_altered:
            altered.append(AlteredDocument(document.key, document.id, document.collection))
    held = np.array(keys, np.int64)
    missing = np.zeros(0, np.int64)
    if copies is not None:
        missing = copies.keys[~np.isin(copies.keys, held)]
        pending = retired_by_unfinished(store.integrity.engine, missing.tolist(), copies.number)
        missing = missing[~np.isin(missing, list(pending))]
    return Comparison(len(held), altered, missing, renamed_collections(store, copies))


def renamed_collections(store: Store, copies: IndexCopies | None) -> list[RenamedCollection]:
    """Collections that the index names otherwise: a name has no checksum, but each file of the index has."""
    if copies is None:
        return []
    renamed = []
    for key, name, members in examples(store.integrity.engine):
        names = {copy.collection for copy in map(copies.get, members) if copy is not None}
        if len(names) == 1 and names != {name}:
            renamed.append(RenamedCollection(key, name, names.pop()))
    return renamed


def is_copy(content: Content, copy: IndexedDocument) -> bool:
    """Whether the index has the texts of the database's rows; details may have gained a language."""
    row = content.row
    if (copy.id, copy.title, copy.body, copy.url) != (row["external_id"], row["title"], row["body"], row["url"]):
        return False
    texts = [(passage["id"], passage["text"]) for passage in content.passages]
    return texts == [(passage.key, passage.text) for passage in copy.passages]


def from_copy(content: Content, copy: IndexedDocument, collection: int | None) -> Iterator[Content]:
    """The database's rows with what the index has: first the texts alone, then with details, places and units.

    Args:
        collection: key of the collection that the index names.
    """
    passages = {passage.key: passage for passage in copy.passages}
    if [passage["id"] for passage in content.passages] != list(passages):
        return
    row = {**content.row, "collection_id": collection or content.row["collection_id"]}
    row |= {"external_id": copy.id, "title": copy.title, "body": copy.body, "url": copy.url}
    texts = [{**passage, "text": passages[passage["id"]].text} for passage in content.passages]
    yield Content(row, texts, content.sketches)
    row = {**row, "details": known_fields(copy.details)}
    placed = [
        {
            **passage,
            "place": known_fields(passages[passage["id"]].place),
            "units": [bound for unit in passages[passage["id"]].units for bound in unit],
        }
        for passage in texts
    ]
    yield Content(row, placed, content.sketches)


def described(comparison: Comparison) -> str:
    """What is altered or missing, in one sentence; empty if nothing is."""
    parts = []
    if comparison.altered:
        names = ", ".join(document.name for document in comparison.altered[:NAMED])
        more = f" and {len(comparison.altered) - NAMED:,} more" if len(comparison.altered) > NAMED else ""
        parts.append(f"{len(comparison.altered):,} documents differ from what was stored: {names}{more}")
    if len(comparison.missing):
        parts.append(f"{len(comparison.missing):,} documents of the index are missing in the database")
    parts += [f"the collection {one.name} is called {one.in_index} in the index" for one in comparison.renamed]
    return "; ".join(parts)
