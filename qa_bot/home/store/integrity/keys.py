"""What no checksum of a row covers: the next keys, names of collections, and whether a document is live.

They are compared with the rows that use them, and with an index whose files are sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from qa_bot.home.store.database import reading, writing
from qa_bot.home.store.schema import collections, counters, documents, passages, source_files

BATCH = 256
"""Keys that are looked up at once."""
EXAMPLES = 3
"""Documents of a collection that are compared with the index."""
_COUNTED = {"documents": documents, "passages": passages}


def counter_faults(engine: Engine) -> list[str]:
    """Next keys that are missing, or taken already: every `add` would fail."""
    with reading(engine) as connection:
        counted = _counters(connection)
        return [
            f"the next key of {name} is {counted.get(name, 'missing')}, but keys up to {taken:,} are taken"
            for name, taken in _taken(connection)
            if counted.get(name, 0) <= taken
        ]


def mend_counters(engine: Engine) -> None:
    """Set such keys above all that are taken, and remove other counters."""
    with writing(engine) as connection:
        counted = _counters(connection)
        connection.execute(delete(counters).where(counters.c.name.not_in(list(_COUNTED))))
        for name, taken in _taken(connection):
            if name not in counted:
                connection.execute(insert(counters).values(name=name, next=taken + 1))
            elif counted[name] <= taken:
                connection.execute(update(counters).where(counters.c.name == name).values(next=taken + 1))


def examples(engine: Engine) -> Iterator[tuple[int, str, Sequence[int]]]:
    """Id and name of each collection, and the keys of some of its live documents."""
    with reading(engine) as connection:
        names = connection.execute(select(collections.c.id, collections.c.name).order_by(collections.c.id)).all()
        live = select(documents.c.id).where(documents.c.retired.is_(None)).order_by(documents.c.id).limit(EXAMPLES)
        for id_, name in names:
            chosen = live.where(documents.c.collection_id == id_)
            yield id_, str(name), connection.execute(chosen).scalars().all()


def collection_key(engine: Engine, name: str) -> int | None:
    with reading(engine) as connection:
        return connection.execute(select(collections.c.id).where(collections.c.name == name)).scalar_one_or_none()


def rename_collection(engine: Engine, id_: int, name: str) -> bool:
    """Give a collection its name again; False if another one has taken it."""
    if collection_key(engine, name) is not None:
        return False
    with writing(engine) as connection:
        return bool(connection.execute(update(collections).where(collections.c.id == id_).values(name=name)).rowcount)


def is_live(engine: Engine, external_id: str, collection: str) -> bool:
    """Whether a collection has a document of this id, whatever its key."""
    query = select(documents.c.id).join(collections).where(documents.c.retired.is_(None))
    chosen = query.where(documents.c.external_id == external_id, collections.c.name == collection)
    with reading(engine) as connection:
        return connection.execute(chosen).scalar() is not None


def retired_by_unfinished(engine: Engine, keys: Sequence[int], current: int) -> set[int]:
    """Which documents a writer that is at work, or that was killed, removed in a generation after the current one."""
    marked: set[int] = set()
    with reading(engine) as connection:
        for start in range(0, len(keys), BATCH):
            chosen = documents.c.id.in_(list(keys[start : start + BATCH])), documents.c.retired > current
            marked.update(connection.execute(select(documents.c.id).where(*chosen)).scalars())
    return marked


def make_live(engine: Engine, key: int) -> None:
    """Have a document of a former generation in the current one again."""
    with writing(engine) as connection:
        connection.execute(update(documents).where(documents.c.id == key).values(retired=None))


def expect_files_anew(engine: Engine, external_id: str) -> None:
    """Have the next `sync` read the files that a document of this id may come from."""
    begins = func.substr(external_id, 1, func.length(source_files.c.stem)) == source_files.c.stem
    with writing(engine) as connection:
        connection.execute(update(source_files).where(begins).values(settings="", outcome="stale"))


def _counters(connection: Connection) -> dict[str, int]:
    return {str(name): int(number) for name, number in connection.execute(select(counters.c.name, counters.c.next))}


def _taken(connection: Connection) -> Iterator[tuple[str, int]]:
    for name, table in _COUNTED.items():
        yield name, int(connection.execute(select(func.max(table.c.id))).scalar() or 0)
