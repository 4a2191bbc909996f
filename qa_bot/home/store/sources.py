"""Sources, the state of their files, and which documents belong to which file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, Text, and_, cast, delete, func, insert, or_, select, update

from qa_bot.home.store import aliases
from qa_bot.home.store.aliases import PresentIds
from qa_bot.home.store.database import reading, storable, writing
from qa_bot.home.store.documents import chunks, live, visible
from qa_bot.home.store.records import (
    Content,
    DepartedFile,
    ListedDocument,
    OwnedDocument,
    Renaming,
    Source,
    SourceFile,
    SourceInfo,
    StoredStem,
    deleted_in,
    with_deleted,
)
from qa_bot.home.store.schema import (
    SOURCE,
    collections,
    documents,
    passages,
    row_checksum,
    sealed,
    source_files,
    sources,
)

FEW = 500
"""Contents that the database looks for; more of them are looked for among all rows."""


class SourceStore:
    """The sources of a home; each method runs one short transaction, or several for long work."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- sources ---

    def all(self) -> list[Source]:
        """Sources by name."""
        with reading(self._engine) as connection:
            return [_source(row) for row in connection.execute(select(sources).order_by(sources.c.name))]

    def infos(self) -> list[SourceInfo]:
        """Sources by name, with the files, documents and passages of the current generation."""
        counted = select(documents.c.source_id, func.count(documents.c.id.distinct()), func.count(passages.c.id))
        joined = documents.outerjoin(passages, passages.c.document_id == documents.c.id)
        query = counted.select_from(joined).where(documents.c.source_id.is_not(None), visible())
        files = select(source_files.c.source_id, func.count()).group_by(source_files.c.source_id)
        with reading(self._engine) as connection:
            counts = {row[0]: (row[1], row[2]) for row in connection.execute(query.group_by(documents.c.source_id))}
            held = {row[0]: row[1] for row in connection.execute(files)}
        return [SourceInfo(source, held.get(source.id, 0), *counts.get(source.id, (0, 0))) for source in self.all()]

    def next_key(self) -> int:
        """The key of the next source; only the single writer of a home may use it."""
        with reading(self._engine) as connection:
            return int(connection.execute(select(func.coalesce(func.max(sources.c.id), 0))).scalar_one()) + 1

    def create(self, source: Source) -> None:
        """Add a source whose key, name and place are new."""
        row = {
            "id": source.id,
            "name": storable(source.name),
            "kind": source.kind,
            "place": storable(source.place),
            "collection": storable(source.collection),
            "options": dict(source.options),
            "synced": source.synced,
            "error": source.error,
        }
        with writing(self._engine) as connection:
            connection.execute(insert(sources).values(**sealed(row, SOURCE)))

    def change(self, source: int, **values: object) -> None:
        """Set columns of a source: `name`, `place`, `options`, `synced`, `error`."""
        with writing(self._engine) as connection:
            this = sources.c.id == source
            row = connection.execute(select(sources).where(this)).mappings().one_or_none()
            if row is not None and row["checksum"] == row_checksum(dict(row), SOURCE):  # an altered row stays altered
                values = sealed({**row, **values}, SOURCE)
            connection.execute(update(sources).where(this).values(**values))

    def remove(self, source: int) -> None:
        """Forget a source and its files; its documents must be retired before.

        Files of other sources that have the same paths, or of which the source had replaced records, are read again by
        the next synchronisation.
        """
        stems = select(source_files.c.stem).where(source_files.c.source_id == source)
        held = select(func.count()).where(
            documents.c.source_id == source_files.c.source_id, documents.c.file == source_files.c.path, live()
        )
        others = source_files.c.source_id != source
        lacking = or_(source_files.c.stem.in_(stems), source_files.c.documents > held.scalar_subquery())
        with writing(self._engine) as connection:
            connection.execute(update(source_files).where(others, lacking).values(outcome="stale"))
            _forget(connection, source)

    def remove_empty(self, kind: str) -> None:
        """Forget the sources of a kind that have no documents."""
        held = select(documents.c.id).where(documents.c.source_id == sources.c.id, live()).exists()
        with reading(self._engine) as connection:
            empty = list(connection.execute(select(sources.c.id).where(sources.c.kind == kind, ~held)).scalars())
        for source in empty:
            self.remove(source)

    def absorb(self, inner: int, outer: int, folder: str) -> None:
        """Move the files and documents of a source in `folder` of another source to that source; ids stay.

        If the inner source is a file, `folder` is the folder of that file, "" for the outer source itself.
        """
        below = f"{folder}/" if folder else ""
        mine = source_files.c.source_id == inner
        with writing(self._engine) as connection:
            connection.execute(
                update(source_files).where(mine).values(source_id=outer, path=storable(below) + source_files.c.path)
            )
            connection.execute(
                update(documents)
                .where(documents.c.source_id == inner)
                .values(source_id=outer, file=storable(below) + documents.c.file)
            )
            _forget(connection, inner)

    # --- files ---

    def files(self, source: int, scope: str = "") -> dict[str, SourceFile]:
        """The files of a source by path, or those at or below the path `scope`."""
        columns = (source_files.c[name] for name in SourceFile._fields)
        query = select(*columns).where(source_files.c.source_id == source).execution_options(yield_per=1000)
        with reading(self._engine) as connection:
            rows = (SourceFile(*row) for row in connection.execute(query))
            return {row.path: row for row in rows if _is_within(row.path, scope)}

    def by_content(self, collection: str, contents: Collection[Content]) -> Iterator[tuple[int, SourceFile]]:
        """The files of a collection's sources that have one of some contents, each with the key of its source."""
        columns = (source_files.c[name] for name in SourceFile._fields)
        joined = source_files.join(sources, sources.c.id == source_files.c.source_id)
        query = select(source_files.c.source_id, *columns).select_from(joined)
        query = query.where(sources.c.collection == storable(collection)).execution_options(yield_per=1000)
        if len(contents) <= FEW:
            query = query.where(source_files.c.hash.in_([content.hash for content in contents]))
        with reading(self._engine) as connection:
            rows = ((source, SourceFile(*fields)) for source, *fields in connection.execute(query))
            yield from (pair for pair in rows if pair[1].content in contents)

    def stems(self, *, of_documents: bool = False) -> Iterator[StoredStem]:
        """What the ids of the documents of all files of all sources begin with, or only of files that gave some."""
        query = select(source_files.c.source_id, source_files.c.path, source_files.c.stem)
        query = query.where(source_files.c.documents > 0) if of_documents else query
        with reading(self._engine) as connection:
            yield from (StoredStem(*row) for row in connection.execute(query.execution_options(yield_per=1000)))

    def save_files(self, source: int, files: Iterable[SourceFile]) -> None:
        """Add the states of files, or replace the earlier ones."""
        for chunk in chunks(files):
            with writing(self._engine) as connection:
                _delete_files(connection, source, [file.path for file in chunk])
                rows = [{**file._asdict(), "path": storable(file.path), "source_id": source} for file in chunk]
                connection.execute(insert(source_files), rows)

    def mark_stale(self, source: int, path: str) -> None:
        """Have a file read again by the next synchronisation, because its documents are no longer those of the file."""
        chosen = (source_files.c.source_id == source, source_files.c.path == storable(path))
        with writing(self._engine) as connection:
            connection.execute(update(source_files).where(*chosen).values(outcome="stale"))

    def note_deleted(self, keys: Sequence[int]) -> None:
        """Remember with their files the ids of documents that the user deleted."""
        for chunk in chunks(keys):
            query = select(documents.c.source_id, documents.c.file, documents.c.external_id)
            query = query.where(documents.c.id.in_(chunk), documents.c.source_id.is_not(None))
            with writing(self._engine) as connection:
                for source, file, id_ in connection.execute(query).all():
                    _note_deleted(connection, source, file, id_)

    def were_deleted(self, ids: Collection[str]) -> bool:
        """Whether the user deleted a document with one of the ids, and its file is still known."""
        query = select(source_files.c.state).where(source_files.c.state.is_not(None))
        with reading(self._engine) as connection:
            states = connection.execute(query.execution_options(yield_per=1000)).scalars()
            return any(not deleted_in(state).isdisjoint(ids) for state in states)

    def forget_files(self, source: int, paths: Iterable[str]) -> None:
        for chunk in chunks(paths):
            with writing(self._engine) as connection:
                _delete_files(connection, source, chunk)

    def taken(self, ids: Iterable[str], *, place: str) -> Iterator[str]:
        """Those of some ids of files that files of sources at other places have."""
        joined = source_files.join(sources, sources.c.id == source_files.c.source_id)
        for chunk in chunks(map(storable, ids)):
            query = select(source_files.c.stem).select_from(joined)
            query = query.where(source_files.c.stem.in_(chunk), sources.c.place != place)
            with reading(self._engine) as connection:
                yield from connection.execute(query).scalars().all()

    # --- documents ---

    def documents_by_file(self, source: int) -> dict[str, int]:
        """The number of live documents of each file of a source."""
        query = select(documents.c.file, func.count()).where(documents.c.source_id == source, live())
        with reading(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(query.group_by(documents.c.file))}

    def of_files(self, source: int, files: Iterable[str], *, of_current: bool = False) -> Iterator[OwnedDocument]:
        """The live documents of some files of a source, or those of the current generation while another is made."""
        seen = visible() if of_current else live()
        for chunk in chunks(map(storable, files)):
            query = _owned().where(documents.c.source_id == source, documents.c.file.in_(chunk), seen)
            with reading(self._engine) as connection:
                rows = connection.execute(query).all()
            yield from (OwnedDocument(*row) for row in rows)

    def count_repeats(self, generation: int, keys: Iterable[int]) -> int:
        """The number of passages added in `generation` that are near-duplicates of passages of these documents."""
        joined = passages.join(documents, passages.c.document_id == documents.c.id)
        added = select(func.count()).select_from(joined).where(documents.c.born == generation, live())
        count = 0
        for chunk in chunks(keys):
            originals = select(passages.c.id).where(passages.c.document_id.in_(chunk))
            with reading(self._engine) as connection:
                count += connection.execute(added.where(passages.c.duplicate_of.in_(originals))).scalar_one()
        return count

    def listed(self, source: int, files: Iterable[str], *, limit: int) -> list[ListedDocument]:
        """The first live documents of some files of a source."""
        rows: list[ListedDocument] = []
        for chunk in chunks(map(storable, files)):
            query = _listed().where(documents.c.source_id == source, documents.c.file.in_(chunk), live())
            query = query.order_by(documents.c.id).limit(limit - len(rows))
            with reading(self._engine) as connection:
                rows += [ListedDocument(*row) for row in connection.execute(query)]
        return rows

    def latest(self, kind: str, *, limit: int) -> tuple[list[ListedDocument], int]:
        """The last documents that were added to sources of a kind, newest first, and their total number."""
        held = and_(sources.c.kind == kind, visible())
        query = _listed().join(sources, sources.c.id == documents.c.source_id).where(held)
        total = select(func.count(documents.c.id)).join(sources, sources.c.id == documents.c.source_id).where(held)
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(documents.c.id.desc()).limit(limit)).all()
            return [ListedDocument(*row) for row in rows], connection.execute(total).scalar_one()

    def of_source(self, source: int) -> list[int]:
        """The keys of a source's live documents."""
        query = select(documents.c.id).where(documents.c.source_id == source, live()).order_by(documents.c.id)
        with reading(self._engine) as connection:
            return list(connection.execute(query).scalars())

    def generations_of(self, source: int, ids: Collection[str]) -> dict[str, int]:
        """The generation in which each of some live documents of a source was added, by id."""
        born: dict[str, int] = {}
        for chunk in chunks(map(storable, ids)):
            query = select(documents.c.external_id, documents.c.born)
            query = query.where(documents.c.source_id == source, documents.c.external_id.in_(chunk), live())
            with reading(self._engine) as connection:
                born.update((row[0], row[1]) for row in connection.execute(query))
        return born

    def texts_of(self, source: int, ids: Collection[str], *, retired: int | None = None) -> dict[str, list[str]]:
        """The texts of the passages of some live documents of a source, by id, or of what a generation removed."""
        texts: dict[str, list[str]] = {id_: [] for id_ in ids}
        chosen = live() if retired is None else documents.c.retired == retired
        for chunk in chunks(map(storable, ids)):
            query = _passages().where(documents.c.source_id == source, documents.c.external_id.in_(chunk), chosen)
            with reading(self._engine) as connection:
                for id_, _, text in connection.execute(query):
                    texts[id_].append(text)
        return texts

    def unsearched(self, source: int) -> Iterator[tuple[str, str, str]]:
        """Id and file of a source's live documents with the text of each passage that is not searched, in order."""
        query = _passages().where(documents.c.source_id == source, cast(passages.c.units, Text) == "[]", live())
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(documents.c.id).execution_options(yield_per=100))
            yield from ((row[0], row[1], row[2]) for row in rows)

    def unowned(self, collection: int) -> list[OwnedDocument]:
        """The live documents of a collection that no source holds and whose ids name a part of a file (`PATH#PART`)."""
        query = _owned().where(
            documents.c.collection_id == collection,
            documents.c.source_id.is_(None),
            documents.c.external_id.contains("#", autoescape=True),
            live(),
        )
        with reading(self._engine) as connection:
            return [OwnedDocument(*row) for row in connection.execute(query)]

    def claim(self, source: int, file: str, keys: Sequence[int]) -> None:
        """Make documents those of a file."""
        for chunk in chunks(keys):
            with writing(self._engine) as connection:
                statement = update(documents).where(documents.c.id.in_(chunk))
                connection.execute(statement.values(source_id=source, file=storable(file)))

    # --- aliases ---

    def add_aliases(self, collection: int, renamings: Iterable[Renaming]) -> None:
        """Record that documents have new ids."""
        for chunk in chunks(renamings):
            with writing(self._engine) as connection:
                cleaned = [one._replace(old=storable(one.old), new=storable(one.new)) for one in chunk]
                aliases.add(connection, collection, cleaned)

    def aliases(self) -> list[tuple[str, Renaming]]:
        """All renamings of documents, each with the name of its collection."""
        with reading(self._engine) as connection:
            return list(aliases.by_collection(connection))

    def present_ids(self) -> PresentIds:
        """The present ids of all renamed documents."""
        return PresentIds(self.aliases())

    def note_departed(self, collection: str, files: Iterable[DepartedFile]) -> None:
        """Remember files of a collection that are gone, for a while."""
        for chunk in chunks(files):
            with writing(self._engine) as connection:
                aliases.note_departed(connection, storable(collection), chunk)

    def departed(self, collection: str, contents: Iterable[Content]) -> Iterator[DepartedFile]:
        """The files of a collection that are gone and had one of some contents, for each the oldest first."""
        for chunk in chunks(contents):
            with reading(self._engine) as connection:
                yield from aliases.departed(connection, storable(collection), chunk)

    def forget_departed(self, collection: str, contents: Iterable[Content]) -> None:
        """Forget files of a collection that are back."""
        for chunk in chunks(contents):
            with writing(self._engine) as connection:
                aliases.forget_departed(connection, storable(collection), chunk)


def _passages() -> Any:
    joined = passages.join(documents, passages.c.document_id == documents.c.id)
    return select(documents.c.external_id, documents.c.file, passages.c.text).select_from(joined)


def _owned() -> Any:
    return select(documents.c.id, documents.c.external_id, documents.c.file, documents.c.origin)


def _listed() -> Any:
    columns = documents.c.external_id, documents.c.title, collections.c.name, documents.c.file
    return select(*columns).join(collections, collections.c.id == documents.c.collection_id)


def _source(row: Row[Any]) -> Source:
    fields = (row.name, row.kind, row.place, row.collection, row.options, row.synced, row.error)
    return Source(row.id, *fields)


def _is_within(path: str, scope: str) -> bool:
    return not scope or path == scope or path.startswith(f"{scope}/")


def _delete_files(connection: Connection, source: int, paths: Sequence[str]) -> None:
    named = source_files.c.path.in_([storable(path) for path in paths])
    connection.execute(delete(source_files).where(source_files.c.source_id == source, named))


def _note_deleted(connection: Connection, source: int, file: str, id_: str) -> None:
    chosen = (source_files.c.source_id == source, source_files.c.path == file)
    columns = (source_files.c[name] for name in SourceFile._fields)
    row = connection.execute(select(*columns).where(*chosen)).one_or_none()
    if row is not None:
        state = with_deleted(row.state, {*SourceFile(*row).deleted, id_})
        values = {"state": state, "documents": max(row.documents - 1, 0)}
        connection.execute(update(source_files).where(*chosen).values(**values))


def _forget(connection: Connection, source: int) -> None:
    connection.execute(delete(source_files).where(source_files.c.source_id == source))
    connection.execute(delete(sources).where(sources.c.id == source))
