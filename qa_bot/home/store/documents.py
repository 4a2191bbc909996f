"""Rows of documents and passages; each function is part of a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, func, insert, or_, select, update

from qa_bot.home.store.aliases import targets
from qa_bot.home.store.database import storable
from qa_bot.home.store.records import (
    CollectionInfo,
    InsertedDocument,
    KnownDocument,
    NewDocument,
    NewPassage,
    StoredDocument,
    StoredPassage,
)
from qa_bot.home.store.schema import (
    collections,
    counters,
    document_checksum,
    documents,
    generations,
    passages,
    sketches,
)
from qa_core.types import details_of, known_fields, place_of

CHUNK = 500  # rows a statement: below the parameter limit of every database, and a short transaction
SHARED_SKETCHES = 2  # of three: about 90 % of the three-word shingles in common
HOLDERS = 16  # passages of the same sketch that are compared, so that boilerplate does not cost quadratic time

T = TypeVar("T")


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def live() -> ColumnElement[bool]:
    """Rows of the generation that is being built, or of the current one if none is."""
    return documents.c.retired.is_(None)


def visible() -> ColumnElement[bool]:
    """Rows of the current generation, whatever is being built."""
    current = select(func.coalesce(func.max(generations.c.number), 0)).where(generations.c.state == "current")
    number = current.scalar_subquery()
    return and_(documents.c.born <= number, or_(live(), documents.c.retired > number))


# --- collections ----------------------------------------------------------------------------------------------------


def collection(connection: Connection, name: str) -> int:
    """The key of a collection, which is created if missing."""
    insert_new(connection, collections, {"name": storable(name)})
    return int(connection.execute(select(collections.c.id).where(collections.c.name == storable(name))).scalar_one())


def all_collections(connection: Connection) -> list[CollectionInfo]:
    counted = func.count(documents.c.id.distinct()), func.count(passages.c.id)
    joined = collections.outerjoin(documents, and_(documents.c.collection_id == collections.c.id, visible()))
    query = (
        select(collections.c.id, collections.c.name, *counted)
        .select_from(joined.outerjoin(passages, passages.c.document_id == documents.c.id))
        .group_by(collections.c.id, collections.c.name)
        .order_by(collections.c.name)
    )
    return [CollectionInfo(*row) for row in connection.execute(query)]


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> None:
    """Insert a row unless its unique columns exist."""
    connection.execute(_upsert(connection)(table).values(**values).on_conflict_do_nothing())


def _upsert(connection: Connection) -> Any:
    """The `insert` of the dialect; only the one in use is imported, because each is slow."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as upsert
    else:
        from sqlalchemy.dialects.sqlite import insert as upsert  # type: ignore[assignment]  # same methods, other class
    return upsert


# --- documents ------------------------------------------------------------------------------------------------------


def known(connection: Connection, collection_id: int, external_ids: Sequence[str]) -> dict[str, KnownDocument]:
    fields = ("external_id", "id", "hash", "born", "source_id", "file", "origin")
    query = select(*(documents.c[name] for name in fields)).where(
        documents.c.collection_id == collection_id, documents.c.external_id.in_(external_ids), live()
    )
    return {row[0]: KnownDocument(*row[1:]) for row in connection.execute(query)}


def find(connection: Connection, external_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    query = select(documents.c.external_id, documents.c.id).where(documents.c.external_id.in_(external_ids), live())
    return ((row[0], row[1]) for row in connection.execute(query.order_by(documents.c.id)))


def of_collection(connection: Connection, name: str) -> list[int]:
    query = select(documents.c.id).join(collections).where(collections.c.name == name, live())
    return list(connection.execute(query.order_by(documents.c.id)).scalars())


def insert_documents(connection: Connection, generation: int, batch: Sequence[NewDocument]) -> list[InsertedDocument]:
    flat = [passage for document in batch for passage in document.passages]
    first_document = _allocate(connection, "documents", len(batch))
    first_passage = _allocate(connection, "passages", len(flat))
    keyed = list(enumerate(flat, start=first_passage))
    repeats = near_duplicates(connection, keyed)
    document_keys = range(first_document, first_document + len(batch))
    placed = list(_placed(document_keys, batch, keyed, repeats))
    rows = [_document_row(*one, generation) for one in zip(document_keys, batch, strict=True)]
    for row, members, new in zip(rows, placed, batch, strict=True):
        row["checksum"] = document_checksum(row, members, [passage.sketches for passage in new.passages])
    _insert_rows(connection, documents, rows)
    _insert_rows(connection, passages, [row for rows in placed for row in rows])
    _insert_rows(connection, sketches, [{"value": v, "passage_id": k} for k, p in keyed for v in set(p.sketches)])
    return [
        InsertedDocument(key, tuple(row["id"] for row in rows), tuple(row["duplicate_of"] for row in rows))
        for key, rows in zip(document_keys, placed, strict=True)
    ]


def retire(connection: Connection, generation: int, keys: Sequence[int]) -> int:
    """Remove documents from `generation`; returns the number removed."""
    statement = update(documents).where(documents.c.id.in_(keys), live()).values(retired=generation)
    return connection.execute(statement).rowcount


def purge_some(connection: Connection, generation: int) -> int:
    """Delete a chunk of the documents retired up to `generation`; returns their number."""
    retired = select(documents.c.id).where(documents.c.retired <= generation).limit(CHUNK)
    return _delete_documents(connection, list(connection.execute(retired).scalars()))


def unmake_some(connection: Connection, generation: int) -> int:
    """Delete a chunk of the documents added in an unfinished generation; returns their number."""
    added = select(documents.c.id).where(documents.c.born == generation).limit(CHUNK)
    return _delete_documents(connection, list(connection.execute(added).scalars()))


def restore(connection: Connection, generation: int) -> None:
    """Restore the documents that an unfinished generation retired."""
    connection.execute(update(documents).where(documents.c.retired == generation).values(retired=None))


def drop_empty_collections(connection: Connection) -> None:
    used = select(documents.c.id).where(documents.c.collection_id == collections.c.id).exists()
    connection.execute(delete(collections).where(~used))


def documents_after(
    connection: Connection, key: int, count: int, *, collection: str | None = None
) -> list[StoredDocument]:
    """The next live documents after a key, with their passages; of a `collection` only the current generation's."""
    seen = live() if collection is None else and_(visible(), collections.c.name == collection)
    query = (
        select(documents, collections.c.name.label("collection"))
        .join(collections)
        .where(documents.c.id > key, seen)
        .order_by(documents.c.id)
        .limit(count)
    )
    rows = connection.execute(query).all()
    grouped = _passages_of(connection, [row.id for row in rows])
    return [_stored(row, tuple(grouped.get(row.id, ()))) for row in rows]


def documents_of(connection: Connection, keys: Sequence[int]) -> list[StoredDocument]:
    """The documents of some keys, ascending, with their passages."""
    query = select(documents, collections.c.name.label("collection")).join(collections)
    rows = connection.execute(query.where(documents.c.id.in_(keys)).order_by(documents.c.id)).all()
    grouped = _passages_of(connection, keys)
    return [_stored(row, tuple(grouped.get(row.id, ()))) for row in rows]


def documents_with_id(connection: Connection, external_id: str) -> list[StoredDocument]:
    """The documents of an id in the current generation, or of a former id, one a collection, with their passages."""
    query = select(documents.c.id).where(documents.c.external_id == external_id, visible())
    keys = list(connection.execute(query).scalars()) or [key for _, key in targets(connection, [external_id])]
    return documents_of(connection, keys)


# --- near-duplicates ------------------------------------------------------------------------------------------------


def near_duplicates(connection: Connection, keyed: Sequence[tuple[int, NewPassage]]) -> dict[int, int]:
    """The earliest passage that shares enough sketches with a new one, by the new passage's key."""
    holders = _holders(connection, {value for _, passage in keyed for value in passage.sketches})
    originals = {}
    for key, passage in keyed:
        shared = Counter(holder for value in passage.sketches for holder in holders.get(value, ()))
        if near := [holder for holder, count in shared.items() if count >= SHARED_SKETCHES]:
            originals[key] = min(near)
        for value in set(passage.sketches):
            present = holders.setdefault(value, [])
            if len(present) < HOLDERS:
                present.append(key)
    return originals


def _holders(connection: Connection, values: set[int]) -> dict[int, list[int]]:
    """The first live passages with each sketch."""
    rank = func.row_number().over(partition_by=sketches.c.value, order_by=sketches.c.passage_id).label("rank")
    joined = sketches.join(passages, passages.c.id == sketches.c.passage_id).join(documents)
    held: dict[int, list[int]] = {}
    for chunk in chunks(values):
        query = select(sketches.c.value, sketches.c.passage_id, rank).select_from(joined)
        ranked = query.where(sketches.c.value.in_(chunk), live()).subquery()
        for row in connection.execute(select(ranked).where(ranked.c.rank <= HOLDERS).order_by(ranked.c.passage_id)):
            held.setdefault(row.value, []).append(row.passage_id)
    return held


# --- rows -----------------------------------------------------------------------------------------------------------


def _allocate(connection: Connection, name: str, count: int) -> int:
    """The first of `count` new keys."""
    statement = update(counters).where(counters.c.name == name).values(next=counters.c.next + count)
    return int(connection.execute(statement.returning(counters.c.next)).scalar_one()) - count


def _insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _document_row(key: int, document: NewDocument, generation: int) -> dict[str, Any]:
    return {
        "id": key,
        "collection_id": document.collection,
        "external_id": storable(document.external_id),
        "title": storable(document.title),
        "body": storable(document.body),
        "url": storable(document.url),
        "hash": document.hash,
        "origin": storable(document.origin),
        "born": generation,
        "retired": None,
        "details": known_fields(document.details),
        "source_id": document.source,
        "file": storable(document.file),
    }


def _placed(
    document_keys: Sequence[int],
    batch: Sequence[NewDocument],
    keyed: Sequence[tuple[int, NewPassage]],
    repeats: Mapping[int, int],
) -> Iterator[list[dict[str, Any]]]:
    """Rows of the passages, one list a document."""
    remaining = iter(keyed)
    for document_key, document in zip(document_keys, batch, strict=True):
        members = enumerate(islice(remaining, len(document.passages)))
        yield [_passage_row(document_key, n, key, passage, repeats) for n, (key, passage) in members]


def _passage_row(
    document: int, position: int, key: int, passage: NewPassage, repeats: Mapping[int, int]
) -> dict[str, Any]:
    return {
        "id": key,
        "document_id": document,
        "position": position,
        "text": storable(passage.text),
        "start": passage.start,
        "end": passage.end,
        "duplicate_of": repeats.get(key),
        "place": known_fields(passage.place),
        "units": list(chain.from_iterable(passage.units)),
    }


def _delete_documents(connection: Connection, keys: Sequence[int]) -> int:
    if keys:
        connection.execute(delete(documents).where(documents.c.id.in_(keys)))
    return len(keys)


def _passages_of(connection: Connection, keys: Sequence[int]) -> dict[int, list[StoredPassage]]:
    grouped: dict[int, list[StoredPassage]] = {}
    for chunk in chunks(keys):
        query = select(passages).where(passages.c.document_id.in_(chunk))
        for row in connection.execute(query.order_by(passages.c.document_id, passages.c.position)):
            grouped.setdefault(row.document_id, []).append(
                StoredPassage(
                    row.id,
                    row.position,
                    row.text,
                    row.start,
                    row.end,
                    row.duplicate_of,
                    place_of(row.place),
                    tuple(zip(row.units[::2], row.units[1::2], strict=True)),
                )
            )
    return grouped


def _stored(row: Row[Any], passages: tuple[StoredPassage, ...]) -> StoredDocument:
    return StoredDocument(
        row.id,
        row.collection,
        row.external_id,
        row.title,
        row.body,
        row.url,
        row.hash,
        row.origin,
        passages,
        details_of(row.details),
        row.source_id,
        row.file,
    )
