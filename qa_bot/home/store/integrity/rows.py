"""Compares rows with their checksums, and mends what a copy of the same content allows.

A checksum is written with its row. Rows of version 0.1 have none until they are sealed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from qa_bot.home.store.database import StoreError, probe, reading, writing
from qa_bot.home.store.documents import documents_of
from qa_bot.home.store.integrity.keys import counter_faults, mend_counters
from qa_bot.home.store.records import StoredDocument
from qa_bot.home.store.schema import (
    CONVERSATION,
    SOURCE,
    TURN,
    VOTE,
    collections,
    conversations,
    document_checksum,
    documents,
    feedback,
    metadata,
    passages,
    row_checksum,
    sketches,
    source_files,
    sources,
    turns,
)

PAGE = 256
"""Rows that are read at once."""
EXAMPLES = 20
"""Faults of the database's own check that are kept."""
_BAD_ROW = (SQLAlchemyError, StoreError, ValueError, TypeError, KeyError, AttributeError)

State = Literal["sound", "altered", "unsealed"]


class CheckedDocument(NamedTuple):
    """A live document and whether it is unchanged since it was stored; `unsealed` ones have no checksum."""

    key: int
    id: str
    collection: str
    state: State


@dataclass(frozen=True, slots=True)
class Content:
    """Rows of a document, its passages in order, and the sketches of each."""

    row: Mapping[str, Any]
    passages: Sequence[Mapping[str, Any]]
    sketches: Sequence[Collection[int]]

    @property
    def checksum(self) -> str:
        return document_checksum(self.row, self.passages, self.sketches)


class Integrity:
    """Checks of the rows of a store; each page of rows is one short transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def probe(self) -> None:
        """Read a row through a new connection; raises StoreError if the database is damaged or unreachable."""
        probe(self._engine)

    def faults(self) -> list[str]:
        """What the database itself finds: pages, indexes, rows that refer to missing ones; and keys that are taken."""
        with reading(self._engine) as connection:
            if connection.dialect.name == "sqlite":
                results = connection.execute(text(f"PRAGMA integrity_check({EXAMPLES})")).scalars().all()
                missing = connection.execute(text("PRAGMA foreign_key_check")).fetchmany(EXAMPLES)
                orphans = [f"a row of {row[0]} refers to a missing row of {row[2]}" for row in missing]
                faults = [str(fault) for fault in results if fault != "ok"] + orphans
                return faults or counter_faults(self._engine)
            for table in metadata.sorted_tables:
                for _ in connection.execute(select(table).execution_options(yield_per=1000)):
                    pass
        return counter_faults(self._engine)

    def rebuild_indexes(self) -> None:
        """Make the database's own indexes anew from the rows, and the next keys."""
        if self._engine.dialect.name == "sqlite":
            with writing(self._engine) as connection:
                connection.execute(text("REINDEX"))
        mend_counters(self._engine)

    @property
    def engine(self) -> Engine:
        return self._engine

    # --- documents ---

    def documents(self) -> Iterator[CheckedDocument]:
        """All live documents by ascending key; memory holds one page."""
        names = self._collections()
        for keys in self._pages():
            states = self._states(keys)
            with reading(self._engine) as connection:
                columns = (documents.c.id, documents.c.external_id, documents.c.collection_id)
                rows = connection.execute(select(*columns).where(documents.c.id.in_(keys)).order_by(documents.c.id))
                checked = [CheckedDocument(r[0], str(r[1]), names.get(r[2], "?"), states[r[0]]) for r in rows]
            yield from checked

    def stream(self, without: Collection[int] = ()) -> Iterator[StoredDocument]:
        """All live documents by ascending key, except some."""
        for keys in self._pages():
            with reading(self._engine) as connection:
                page = documents_of(connection, [key for key in keys if key not in without])
            yield from page

    def content(self, key: int) -> Content | None:
        """A document's rows; None if they cannot be read."""
        try:
            with reading(self._engine) as connection:
                return _contents(connection, [key]).get(key)
        except _BAD_ROW:
            return None

    def write(self, content: Content, *, whole: bool = False) -> bool:
        """Replace a document's rows by a copy of them; refused unless the copy has the document's own checksum.

        A `whole` copy brings its own checksum, such as one of a backup, in case the stored one is altered. It makes the
        document live again, and is inserted if the row is missing.
        """
        key = content.row["id"]
        with writing(self._engine) as connection:
            known = connection.execute(select(documents.c.checksum).where(documents.c.id == key)).scalar_one_or_none()
            expected = content.row["checksum"] if whole else known
            if expected not in (None, content.checksum) or (expected is None and whole):
                return False
            row = {name: value for name, value in content.row.items() if name not in _CURRENT}
            values = {**row, "checksum": content.checksum} | ({"retired": None} if whole else {})
            if not connection.execute(update(documents).where(documents.c.id == key).values(values)).rowcount:
                connection.execute(insert(documents).values({**content.row, **values}))
            connection.execute(delete(passages).where(passages.c.document_id == key))
            if content.passages:
                connection.execute(insert(passages), [dict(passage) for passage in content.passages])
            marks = [
                {"value": value, "passage_id": passage["id"]}
                for passage, held in zip(content.passages, content.sketches, strict=True)
                for value in set(held)
            ]
            if marks:
                connection.execute(insert(sketches), marks)
        return True

    def expect_anew(self, key: int) -> None:
        """Have the next `add` or `sync` replace an altered document, though its source is unchanged."""
        with writing(self._engine) as connection:
            this = documents.c.id == key
            connection.execute(update(documents).where(this).values(hash=""))
            owner = connection.execute(select(documents.c.source_id, documents.c.file).where(this)).one_or_none()
            if owner is not None and owner.source_id is not None:
                chosen = (source_files.c.source_id == owner.source_id, source_files.c.path == owner.file)
                connection.execute(update(source_files).where(*chosen).values(settings="", outcome="stale"))

    def seal(self, without: Collection[int] = ()) -> int:
        """Write the missing checksums of documents, except some, and of all other rows; returns their number."""
        sealed = 0
        for keys in self._pages(documents.c.checksum.is_(None)):
            chosen = [key for key in keys if key not in without]
            with writing(self._engine) as connection:
                for key, content in _contents(connection, chosen).items():
                    statement = update(documents).where(documents.c.id == key)
                    connection.execute(statement.values(checksum=content.checksum))
            sealed += len(chosen)
        return sealed + sum(self._seal_rows(table, columns) for table, columns in _CHECKED.values())

    # --- other rows ---

    def altered_rows(self) -> Iterator[tuple[str, object]]:
        """Turns, votes, conversations and sources that differ from their checksums: the table and the row's id."""
        for table, columns in _CHECKED.values():
            for ids in self._row_pages(table):
                yield from ((table.name, id_) for id_ in self._altered_of(table, columns, ids))

    def row(self, table: str, key: object) -> dict[str, Any] | None:
        """A row of one of these; None if it is missing or altered."""
        chosen, columns = _CHECKED[table]
        with reading(self._engine) as connection:
            row = connection.execute(select(chosen).where(chosen.c.id == key)).mappings().one_or_none()
        return dict(row) if row is not None and row["checksum"] == row_checksum(dict(row), columns) else None

    def write_row(self, table: str, row: Mapping[str, Any]) -> bool:
        """Replace what the checksum of a row covers by a sound copy; times of use stay."""
        chosen, columns = _CHECKED[table]
        values = {name: row[name] for name in (*columns, "checksum")}
        with writing(self._engine) as connection:
            return bool(connection.execute(update(chosen).where(chosen.c.id == row["id"]).values(values)).rowcount)

    # --- pages ---

    def _pages(self, *conditions: Any) -> Iterator[list[int]]:
        key = -1
        chosen = (documents.c.retired.is_(None), *conditions)
        query = select(documents.c.id).where(*chosen).order_by(documents.c.id).limit(PAGE)
        while True:
            with reading(self._engine) as connection:
                keys = list(connection.execute(query.where(documents.c.id > key)).scalars())
            if not keys:
                return
            yield keys
            key = keys[-1]

    def _states(self, keys: Sequence[int]) -> dict[int, State]:
        try:
            with reading(self._engine) as connection:
                contents = _contents(connection, keys)
            return {key: _state(contents.get(key)) for key in keys}
        except _BAD_ROW:  # a row cannot be read: find out which
            if len(keys) == 1:
                return {keys[0]: "altered"}
            middle = len(keys) // 2
            return self._states(keys[:middle]) | self._states(keys[middle:])

    def _collections(self) -> dict[int, str]:
        with reading(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(select(collections.c.id, collections.c.name))}

    def _row_pages(self, table: Table) -> Iterator[list[Any]]:
        query = select(table.c.id).order_by(table.c.id).limit(PAGE)
        ids: list[Any] = []
        while True:
            with reading(self._engine) as connection:
                after = query.where(table.c.id > ids[-1]) if ids else query
                ids = list(connection.execute(after).scalars())
            if not ids:
                return
            yield ids

    def _altered_of(self, table: Table, columns: Sequence[str], ids: Sequence[Any]) -> list[Any]:
        try:
            with reading(self._engine) as connection:
                rows = connection.execute(select(table).where(table.c.id.in_(ids))).mappings().all()
            return [row["id"] for row in rows if row["checksum"] not in (None, row_checksum(dict(row), columns))]
        except _BAD_ROW:
            if len(ids) == 1:
                return list(ids)
            middle = len(ids) // 2
            return self._altered_of(table, columns, ids[:middle]) + self._altered_of(table, columns, ids[middle:])

    def _seal_rows(self, table: Table, columns: Sequence[str]) -> int:
        count = 0
        query = select(table).where(table.c.checksum.is_(None)).limit(PAGE)
        while True:
            with writing(self._engine) as connection:
                rows = connection.execute(query).mappings().all()
                for row in rows:
                    statement = update(table).where(table.c.id == row["id"])
                    connection.execute(statement.values(checksum=row_checksum(dict(row), columns)))
            if not rows:
                return count
            count += len(rows)

    def unsealed(self) -> int:
        """The number of live documents without a checksum."""
        query = select(func.count()).select_from(documents)
        with reading(self._engine) as connection:
            chosen = query.where(documents.c.retired.is_(None), documents.c.checksum.is_(None))
            return int(connection.execute(chosen).scalar_one())


_CHECKED = {
    "turns": (turns, TURN),
    "feedback": (feedback, VOTE),
    "conversations": (conversations, CONVERSATION),
    "sources": (sources, SOURCE),
}
_CURRENT = ("retired", "source_id", "file")
"""Columns of a document that change without its content."""


def _state(content: Content | None) -> State:
    if content is None:
        return "altered"
    if content.row["checksum"] is None:
        return "unsealed"
    return "sound" if content.row["checksum"] == content.checksum else "altered"


def _contents(connection: Connection, keys: Sequence[int]) -> dict[int, Content]:
    rows = connection.execute(select(documents).where(documents.c.id.in_(keys))).mappings()
    query = select(passages).where(passages.c.document_id.in_(keys))
    held: dict[int, list[Mapping[str, Any]]] = {}
    for passage in connection.execute(query.order_by(passages.c.document_id, passages.c.position)).mappings():
        held.setdefault(passage["document_id"], []).append(dict(passage))
    values: dict[int, list[int]] = {}
    joined = sketches.join(passages, passages.c.id == sketches.c.passage_id)
    marked = select(sketches.c.value, sketches.c.passage_id).select_from(joined)
    for value, passage in connection.execute(marked.where(passages.c.document_id.in_(keys))):
        values.setdefault(passage, []).append(value)
    return {
        row["id"]: Content(
            dict(row), held.get(row["id"], []), [values.get(passage["id"], []) for passage in held.get(row["id"], [])]
        )
        for row in rows
    }
