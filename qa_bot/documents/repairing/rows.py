"""Mends the database: its indexes, next keys, names of collections, documents, turns, votes and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from qa_bot.documents.index_update import ChangeError
from qa_bot.documents.repairing.outcome import Backups, Copies, Repaired
from qa_bot.home.checks.documents import AlteredDocument, Comparison, IndexCopies, compare, from_copy
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Generation, Generations, read_generation
from qa_bot.home.store import Store
from qa_bot.home.store.integrity.keys import (
    collection_key,
    expect_files_anew,
    is_live,
    make_live,
    rename_collection,
)
from qa_bot.home.store.schema import collections


def mend_database(home: Home, store: Store, done: Repaired) -> None:
    """Make the database's own indexes and its next keys anew; raises ChangeError if that does not help."""
    faults = store.integrity.faults()
    if not faults:
        return
    if (
        any(collections.name in fault for fault in faults)
        and next(_index_copies(Generations(home.index)), None) is None
    ):
        done.damaged.append(
            "The name of a collection was altered, and no sound index has the right one; bring back a backup with "
            "`qa-bot restore DIR`."
        )
    store.integrity.rebuild_indexes()
    if faults := store.integrity.faults():
        raise ChangeError(
            f"Expected a whole database, but got: {faults[0]}; bring back a backup with `qa-bot restore DIR`."
        )
    done.mended.append("The indexes of the database were made anew.")


def mend_rows(home: Home, store: Store, backups: Backups, done: Repaired) -> None:
    """Bring back altered rows and lost documents from the index or a backup; name the others."""
    copies = next(_index_copies(Generations(home.index)), None)
    compared = compare(store, copies)
    for one in compared.renamed:
        if rename_collection(store.integrity.engine, one.key, one.in_index):
            done.mended.append(f"The collection {one.in_index} has its name again.")
        else:
            done.damaged.append(
                f"The collection {one.name} was called {one.in_index}, as another is now; bring back a backup with "
                "`qa-bot restore DIR`."
            )
    rows = list(store.integrity.altered_rows())
    missing = _lost(store, copies, compared)
    with backups() if compared.altered or rows or missing else nullcontext() as opened:
        for document in compared.altered:
            if _mend_document(store, document.key, copies, opened or ()):
                done.mended.append(f"The document {document.name} was brought back.")
            else:
                store.integrity.expect_anew(document.key)
                done.left_out.append(document)
        for document in missing:
            _mend_lost(store, document, opened or (), done)
        for table, key in rows:
            copied = (row for backup in opened or () if (row := backup.row(table, key)) is not None)
            if any(store.integrity.write_row(table, row) for row in copied):
                done.mended.append(f"The row {key} of {table} was brought back.")
            else:
                done.damaged.append(
                    f"The row {key} of {table} is altered; bring back a backup with `qa-bot restore DIR`."
                )
    store.integrity.seal([document.key for document in done.left_out])


def _lost(store: Store, copies: IndexCopies | None, compared: Comparison) -> list[AlteredDocument]:
    """Documents that the index has and the database lacks, though both are of one generation."""
    generation = store.generation()
    if copies is None or generation is None or generation.number != copies.number:
        return []
    held = [copy for key in compared.missing.tolist() if (copy := copies.get(key)) is not None]
    return [
        AlteredDocument(copy.key, copy.id, copy.collection)
        for copy in held
        if not is_live(store.integrity.engine, copy.id, copy.collection)
    ]


def _mend_lost(store: Store, document: AlteredDocument, backups: Sequence[Copies], done: Repaired) -> None:
    content = store.integrity.content(document.key)
    if content is not None and content.row["checksum"] == content.checksum:
        make_live(store.integrity.engine, document.key)
    elif not _from_backup(store, document.key, backups):
        expect_files_anew(store.integrity.engine, document.id)
        done.left_out.append(document)
        return
    done.mended.append(f"The document {document.name} was brought back.")


def _mend_document(store: Store, key: int, copies: IndexCopies | None, backups: Sequence[Copies]) -> bool:
    content, copy = store.integrity.content(key), copies.get(key) if copies else None
    if content is not None and copy is not None:
        collection = collection_key(store.integrity.engine, copy.collection)
        if any(map(store.integrity.write, from_copy(content, copy, collection))):
            return True
    return _from_backup(store, key, backups)


def _from_backup(store: Store, key: int, backups: Sequence[Copies]) -> bool:
    return any(
        (held := backup.document(key)) is not None and store.integrity.write(held, whole=True) for backup in backups
    )


def _index_copies(generations: Generations) -> Iterator[IndexCopies]:
    """The documents of undamaged generations, newest first."""
    for path in sorted(generations.root.glob("[0-9]" * 8), reverse=True):
        try:
            generation: Generation = read_generation(path)
        except CorruptGenerationError:
            continue
        if (copies := IndexCopies.of(generations, generation)) is not None:
            yield copies
