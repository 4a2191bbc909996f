"""Compares records with the store: adds new documents, replaces changed ones, skips the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from qa_bot.documents.cutting.cut_record import MARKDOWN_CUTTING, cut_record
from qa_bot.documents.index_update import IndexUpdate
from qa_bot.documents.ingest.near_duplicates import super_shingles
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject
from qa_bot.documents.reject_log import AddReport, RejectLog
from qa_bot.documents.seen_files import MAX_ENTRIES, SeenFiles
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import KnownDocument, NewDocument, NewPassage, Store
from qa_core.text.analysis import normalise

BATCH = 500
"""Documents that are looked up and stored at once …"""
BATCH_CHARACTERS = 4_000_000
"""… or fewer if they are long, so that memory does not grow with the input."""
CUTTING = 1
"""Part of each document's hash. Raise it when normalising or cutting changes; the next `add` then replaces all."""
NO_TEXT = "Expected text, but got none; give the record an answer or text."

Progress = Callable[[AddReport], None]


class RecordSync:
    """One run over the records of a collection, in batches. Without an `update` it only counts what would change."""

    def __init__(
        self,
        store: Store,
        update: IndexUpdate | None,
        seen_files: SeenFiles,
        collection: str,
        passages: PassagesSection,
        log: RejectLog,
        progress: Progress = lambda _: None,
    ) -> None:
        self._store, self._update, self._seen_files, self._log = store, update, seen_files, log
        self._name, self._passages = collection, passages
        self._progress, self._counts = progress, log.counts
        self._collection = store.collection(collection) if update else _collection_key(store, collection)
        self._seen = bytearray()  # by document key: 1 if this run has met it
        self._repeats = 0
        self._dry_ids: set[str] = set()  # new ids of a dry run, which the store does not learn

    def run(self, items: Iterable[Item], signature: str | None = None) -> None:
        """Read records, unless `signature` says that their only file was added before."""
        if signature and (seen := self._seen_files.entries.get(signature)):
            self._counts.unchanged += seen.documents
            self._report((*seen.rejects, *seen.notices))
            return
        accepted, repeats = self._counts.accepted, self._repeats
        problems = self._report(self._sync(items))
        if signature and self._repeats == repeats:
            self._seen_files.add(signature, self._counts.accepted - accepted, problems)

    def _sync(self, items: Iterable[Item]) -> Iterator[Reject | Notice]:
        """Store records in batches; yield rejects and notices."""
        batch: list[Record] = []
        characters = 0
        for item in items:
            if not isinstance(item, Record):
                yield item
                continue
            batch.append(item)
            characters += len(item.text)
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                yield from self._sync_batch(batch)
                batch, characters = [], 0
        yield from self._sync_batch(batch)

    def _report(self, items: Iterable[Reject | Notice]) -> list[Reject | Notice]:
        """Log rejects and notices, and return the first ones: at most one more than an entry of `SeenFiles` holds."""
        first: list[Reject | Notice] = []
        for item in items:
            if isinstance(item, Reject):
                self._log.reject(item)
            else:
                self._log.notice(item)
            if len(first) <= MAX_ENTRIES:
                first.append(item)
        return first

    def _sync_batch(self, batch: Sequence[Record]) -> Iterator[Reject]:
        """Store the new and changed records of a batch; yield its rejects."""
        known = self._known([record.id for record in batch])
        new: dict[str, NewDocument] = {}
        retired: list[int] = []
        for record in batch:
            before = known.get(record.id)
            if record.id in new or record.id in self._dry_ids or (before and self._was_seen(before.document)):
                self._repeats += 1
                yield Reject(
                    record.where,
                    f"Expected ids that differ, but got {record.id!r} again; the first one is kept. Rename this one.",
                )
                continue
            hash_ = self._hash(record)
            if before and before.hash == hash_:
                self._counts.unchanged += 1
                self._mark_seen(before.document)
            elif not (document := self._document(record, hash_)).passages:
                yield Reject(record.where, NO_TEXT)
            else:
                new[record.id] = document
                if before:
                    self._counts.updated += 1
                    retired.append(before.document)
                else:
                    self._counts.added += 1
        self._write(list(new.values()), retired)
        self._progress(self._counts)

    def _known(self, ids: Sequence[str]) -> Mapping[str, KnownDocument]:
        return {} if self._collection is None or not ids else self._store.known(self._collection, ids)

    def _write(self, new: Sequence[NewDocument], retired: Sequence[int]) -> None:
        if self._update is None:
            self._dry_ids.update(document.external_id for document in new)
            return
        self._update.retire(retired)
        for inserted in self._update.insert(new, self._name):
            self._mark_seen(inserted.document)
            self._counts.passages += len(inserted.passages)
            self._counts.duplicates += sum(duplicate is not None for duplicate in inserted.duplicates)

    def _document(self, record: Record, hash_: str) -> NewDocument:
        settings, exported = self._passages, record.exported
        document = cut_record(record, characters=settings.characters, overlap=settings.overlap)
        return NewDocument(
            collection=self._collection or 0,
            external_id=record.id,
            title=document.title,
            body=normalise(record.body),
            hash=hash_,
            passages=tuple(
                NewPassage(passage.text, passage.start, passage.end, super_shingles(passage.text), passage.place)
                for passage in document.passages
            ),
            url=record.url,
            origin=exported.origin if exported else record.where,
            details=document.details,
        )

    def _hash(self, record: Record) -> str:
        if record.exported and record.exported.hash:
            return record.exported.hash
        settings = f"{CUTTING} {self._passages.characters} {self._passages.overlap}"
        known = (record.markdown, record.kind, record.date, record.language, record.archived, record.draft, record.tags)
        if known != (False, "prose", "", "", False, False, ()):  # hashes of version 0.1 stay those of plain records
            settings += f"{MARKDOWN_CUTTING} {known}" if record.markdown else repr(known)
        digest = hashlib.blake2b(settings.encode(), digest_size=16)
        for part in (record.title, record.body, record.text, record.url):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def _mark_seen(self, key: int) -> None:
        if key >= len(self._seen):
            self._seen.extend(bytes(key + 1 - len(self._seen)))
        self._seen[key] = 1

    def _was_seen(self, key: int) -> bool:
        return key < len(self._seen) and self._seen[key] == 1


def _collection_key(store: Store, name: str) -> int | None:
    """The key of a collection, or None if it does not exist."""
    return next((info.id for info in store.collections() if info.name == name), None)
