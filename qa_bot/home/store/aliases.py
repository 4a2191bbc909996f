"""Former ids of documents: votes, judgements and conversations that name them mean the document's present id.

An id can be that of several documents, one after another. So each renaming has the time until which the former id meant
the document, and the time since which the new one does. Files that are gone are remembered for a while: their documents
may come back under other ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, delete, insert, select, tuple_

from qa_bot.home.store.records import Content, DepartedFile, Renaming, Turn
from qa_bot.home.store.schema import collections, departed_files, document_aliases, documents, storable
from qa_core.wall_clock import now

LIFETIME = 90 * 86_400.0
"""Seconds for which files that are gone are remembered …"""
DEPARTED = 10_000
"""… and the most of them."""

PresentId = Callable[[str, str, float], str]
"""The present id of a document, from its collection, an id, and the time at which the id was used."""


class PresentIds:
    """The present ids of documents that were renamed."""

    def __init__(self, renamings: Iterable[tuple[str, Renaming]]) -> None:
        """Args: `renamings` are pairs of a collection's name and a renaming."""
        self._by_id: dict[tuple[str, str], list[Renaming]] = {}
        for collection, one in sorted(renamings, key=lambda pair: pair[1].until):
            self._by_id.setdefault((collection, one.old), []).append(one)

    def __call__(self, collection: str, id_: str, at: float) -> str:
        """The present id of the document that `id_` meant at some time."""
        return self.since(collection, id_, at)[0]

    def since(self, collection: str, id_: str, at: float) -> tuple[str, float]:
        """The present id of the document that `id_` meant at some time, and the time since when it has that id."""
        while step := next((one for one in self._by_id.get((collection, id_), ()) if one.until > at), None):
            id_, at = step.new, step.end
        return id_, at


def add(connection: Connection, collection: int, renamings: Sequence[Renaming]) -> None:
    """Add renamings of documents, each only once."""
    rows = {(one.old, one.until): one for one in renamings if one.old != one.new}
    if not rows:
        return
    columns = document_aliases.c
    repeated = tuple_(columns.old, columns.until).in_([*rows])
    connection.execute(delete(document_aliases).where(columns.collection_id == collection, repeated))
    connection.execute(
        insert(document_aliases), [{**one._asdict(), "collection_id": collection} for one in rows.values()]
    )


def targets(connection: Connection, ids: Collection[str]) -> list[tuple[str, int]]:
    """The keys of the live documents whose former ids are given, with that id; of several the last that had it."""
    present = {(key, one.old): (one.new, one.end) for key, one in _renamings(connection, ids)}
    moving = present
    while moving:
        steps = list(_renamings(connection, {id_ for id_, _ in moving.values()}))
        first = {
            (key, old): next((o for k, o in steps if (k, o.old) == (key, id_) and o.until > at), None)
            for (key, old), (id_, at) in moving.items()
        }
        moving = {key: (one.new, one.end) for key, one in first.items() if one}
        present = {**present, **moving}
    columns = documents.c
    query = select(columns.collection_id, columns.external_id, columns.id).where(
        columns.external_id.in_({id_ for id_, _ in present.values()}), columns.retired.is_(None)
    )
    live = {(row[0], row[1]): row[2] for row in connection.execute(query)} if present else {}
    pairs = [(old, live.get((key, id_))) for (key, old), (id_, _) in present.items()]
    return sorted(((old, key) for old, key in pairs if key is not None), key=lambda pair: pair[1])


def by_collection(connection: Connection) -> Iterator[tuple[str, Renaming]]:
    """All renamings, each with the name of its collection."""
    columns = (document_aliases.c[name] for name in Renaming._fields)
    query = select(collections.c.name, *columns).join(collections, collections.c.id == document_aliases.c.collection_id)
    return ((name, Renaming(*fields)) for name, *fields in connection.execute(query))


def with_present_ids(turn: Turn, present: PresentId) -> Turn:
    """A turn whose sources have the present ids of their documents."""
    if not turn.answer.get("sources"):
        return turn
    at = min(turn.asked, turn.created)  # a clock may have been ahead
    sources = [
        {**source, "document": present(source.get("collection", ""), source["document"], at)}
        if source.get("document")
        else source
        for source in turn.answer["sources"]
    ]
    return replace(turn, answer={**turn.answer, "sources": sources})


# --- files that are gone --------------------------------------------------------------------------------------------


def note_departed(connection: Connection, collection: str, files: Sequence[DepartedFile]) -> None:
    """Remember files that are gone; of all such files the oldest are forgotten."""
    columns = departed_files.c
    rows = {(one.content.hash, one.stem): one for one in files}
    repeated = tuple_(columns.hash, columns.stem).in_([*rows])
    connection.execute(delete(departed_files).where(columns.collection == collection, repeated))
    connection.execute(insert(departed_files), [_departed_row(collection, one) for one in rows.values()])
    connection.execute(delete(departed_files).where(columns.departed < now() - LIFETIME))
    times = select(columns.departed).order_by(columns.departed.desc()).offset(DEPARTED).limit(1)
    oldest = connection.execute(times).scalar_one_or_none()
    if oldest is not None:
        connection.execute(delete(departed_files).where(columns.departed <= oldest))


def departed(connection: Connection, collection: str, contents: Collection[Content]) -> list[DepartedFile]:
    """The files of a collection that are gone and had one of some contents, oldest first."""
    columns = departed_files.c
    query = select(columns.size, columns.hash, columns.stem, columns.ids, columns.departed)
    chosen = columns.collection == collection, columns.hash.in_([one.hash for one in contents])
    rows = connection.execute(query.where(*chosen).order_by(columns.departed))
    files = [DepartedFile(Content(size, hash_), *fields) for size, hash_, *fields in rows]
    return [file for file in files if file.content in contents]


def forget_departed(connection: Connection, collection: str, contents: Collection[Content]) -> None:
    """Forget files of a collection with some contents, because they are back."""
    columns = departed_files.c
    chosen = columns.collection == collection, columns.hash.in_([one.hash for one in contents])
    connection.execute(delete(departed_files).where(*chosen))


def _departed_row(collection: str, file: DepartedFile) -> dict[str, object]:
    named = {"collection": collection, "hash": file.content.hash, "stem": storable(file.stem)}
    return {**named, "size": file.content.size, "ids": dict(file.ids), "departed": file.departed}


def _renamings(connection: Connection, ids: Collection[str]) -> Iterator[tuple[int, Renaming]]:
    """The renamings of some former ids in the order of time, each with the key of its collection."""
    columns = document_aliases.c
    query = select(columns.collection_id, *(columns[name] for name in Renaming._fields)).where(columns.old.in_(ids))
    rows = connection.execute(query.order_by(columns.until)) if ids else ()
    return ((key, Renaming(*fields)) for key, *fields in rows)
