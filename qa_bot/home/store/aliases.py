"""Former ids of documents: votes, judgements and conversations that name them mean the document's present id.

A live document comes before an alias with its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from qa_bot.home.store.schema import collections, document_aliases, documents


def add(connection: Connection, collection: int, pairs: Sequence[tuple[str, str]]) -> None:
    """Add pairs of the id before and the id now; earlier aliases of the former follow."""
    mine = document_aliases.c.collection_id == collection
    for before, now in pairs:
        if before == now:
            continue
        connection.execute(update(document_aliases).where(mine, document_aliases.c.new == before).values(new=now))
        connection.execute(delete(document_aliases).where(mine, document_aliases.c.old.in_([before, now])))
        connection.execute(insert(document_aliases).values(collection_id=collection, old=before, new=now))


def targets(connection: Connection, ids: Sequence[str]) -> list[tuple[str, int]]:
    """The keys of the live documents whose former ids are given, with that id."""
    joined = document_aliases.join(
        documents,
        (documents.c.collection_id == document_aliases.c.collection_id)
        & (documents.c.external_id == document_aliases.c.new)
        & documents.c.retired.is_(None),
    )
    query = select(document_aliases.c.old, documents.c.id).select_from(joined).where(document_aliases.c.old.in_(ids))
    return [(row[0], row[1]) for row in connection.execute(query.order_by(documents.c.id))]


def by_collection(connection: Connection) -> dict[tuple[str, str], str]:
    """The present id by the name of the collection and the former id."""
    query = select(collections.c.name, document_aliases.c.old, document_aliases.c.new).join(
        collections, collections.c.id == document_aliases.c.collection_id
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def with_present_ids(answer: Mapping[str, Any], present: Mapping[tuple[str, str], str]) -> Mapping[str, Any]:
    """An answer object whose sources have the present ids of their documents.

    Args:
        present: as `by_collection` gives it.
    """
    if not present or not answer.get("sources"):
        return answer
    sources = [
        {**source, "document": present.get((source.get("collection", ""), source["document"]), source["document"])}
        for source in answer["sources"]
    ]
    return {**answer, "sources": sources}
