"""Compares records with the store: adds new documents, replaces changed ones, skips the rest."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from qa_bot.documents.boilerplate import Boilerplate
from qa_bot.documents.cutting.cut_record import MARKDOWN_CUTTING, CutRecord, cut_record, in_its_language
from qa_bot.documents.cutting.repeated_blocks import RepeatedBlocks
from qa_bot.documents.index_update import IndexUpdate
from qa_bot.documents.ingest.near_duplicates import super_shingles_of
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject
from qa_bot.documents.reject_log import AddReport, RejectLog
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import KnownDocument, NewDocument, NewPassage, Store
from qa_core.text.analysis import normalise
from qa_core.text.safe_text import escaped, has_control_characters
from qa_core.web_addresses import web_address

BATCH, BATCH_CHARACTERS = 500, 250_000
"""Documents that are looked up and stored at once, or fewer if they are long: while they are stored, the next files are
read ahead."""
WAITING, WAITING_CHARACTERS = 500, 4_000_000
"""Documents with blocks of others that wait for more documents to show whether the blocks are boilerplate, or fewer."""
CUTTING = 1
"""Part of each document's hash. Raise it when normalising or cutting changes; the next `add` then replaces all."""
LONGEST_ID = 1024
"""Characters of a document's id."""
TAKEN_PAGE = "Expected one page {id!r}, but got another; that of {first} is kept. If two sources have it, remove one."
TAKEN = "Expected ids that differ, but got {id!r} again; the first one, of {first}, is kept. Rename this one."
NO_TEXT = "Expected text, but got none; give the record an answer or text."

Progress = Callable[[AddReport], None]


class Owner(NamedTuple):
    """In a stream of items: the file of a source that the following records come from.

    `name` is the source's first one: it goes before the ids that another source's documents have. `stem` is what the
    ids of the file's documents begin with, `location` the file as the places of its records begin, and `deleted` the
    ids of documents that the user deleted and that stay away.
    """

    source: int
    file: str
    name: str
    stem: str = ""
    location: str = ""
    deleted: frozenset[str] = frozenset()


NO_OWNER = Owner(0, "", "")
"""Of records that come from no source."""
SourceItem = Item | Owner
Fate = Literal["read", "settled", "gone", "elsewhere"]
"""Of a file in this run: it is read, its documents stay without reading it, or they are removed; or of other files."""
FateOf = Callable[[int, str], Fate]
Assigned = tuple[str, Owner]
"""Line and file of a new or changed record."""


class _ChangedRecord(NamedTuple):
    """A new or changed record, its passages before boilerplate is known, and the key of the document it replaces."""

    record: Record
    owner: Owner
    hash: str
    document: CutRecord
    before: int | None


class RecordSync:
    """One run over the records of a collection, in batches. Without an `update` it only counts what would change."""

    def __init__(
        self,
        store: Store,
        update: IndexUpdate | None,
        collection: str,
        passages: PassagesSection,
        log: RejectLog,
        progress: Progress = lambda _: None,
        *,
        fate: FateOf | None = None,
        cuts: MutableMapping[Record, CutRecord] | None = None,
    ) -> None:
        """A run over a collection.

        Args:
            fate: what this run does with a file of any source. Without it, as in an import, pages of websites replace
                those of other sources, too.
            cuts: records that are cut already, filled while `run` takes its items and emptied after each batch.
        """
        self._store, self._update, self._log = store, update, log
        self._name, self._passages = collection, passages
        self._progress, self._counts = progress, log.counts
        self._fate = fate
        self._cuts = {} if cuts is None else cuts
        self._boilerplate = update.boilerplate if update else Boilerplate()
        self._collection = store.collection(collection) if update else _collection_key(store, collection)
        self._seen = bytearray()  # by document key: 1 if this run has met it
        self._waiting: dict[str, _ChangedRecord] = {}
        self._dry: dict[str, Assigned] = {}  # new records of a dry run, which the store does not learn
        self.claims: dict[Owner, list[int]] = {}
        """Unchanged documents that another file holds now, by key."""
        self.rejected: dict[tuple[int, str], tuple[int, Reject]] = {}
        """By source and file: records that were read and are not stored, as their number and the first of them."""
        self.renamed = Counter[tuple[int, str]]()
        """By source and file: documents with the name of the source before their ids, which another file's have."""
        self.replaced: set[tuple[int, str]] = set()
        """Source and file of documents that records from no source replaced."""

    def run(self, items: Iterable[SourceItem]) -> None:
        """Store records in batches; log rejects and notices."""
        batch: list[tuple[Record, Owner]] = []
        characters, owner = 0, NO_OWNER
        for item in items:
            if isinstance(item, Owner):
                owner = item
            elif isinstance(item, Reject):
                self._log.reject(item)
            elif isinstance(item, Notice):
                self._log.notice(item)
            elif reason := _bad_id(item.id):
                self._reject(Reject(item.where, reason), owner)
            elif owner.deleted.isdisjoint((item.id, _longer(item, owner))):
                batch.append((item, owner))
                characters += len(item.text)
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                self._sync_batch(batch)
                batch, characters = [], 0
        self._sync_batch(batch)
        self._write_waiting()

    def was_seen(self, key: int) -> bool:
        """Whether this run has met the document with a key."""
        return key < len(self._seen) and self._seen[key] == 1

    def _reject(self, reject: Reject, owner: Owner) -> None:
        """Log a record that was read and is not stored."""
        self._log.reject(reject)
        count, first = self.rejected.get(owner[:2], (0, reject))
        self.rejected[owner[:2]] = count + 1, first

    def _sync_batch(self, batch: Sequence[tuple[Record, Owner]]) -> None:
        """Store the new and changed records of a batch, but those with blocks of others later."""
        known = self._known_ids(batch)
        changed: list[_ChangedRecord] = []
        assigned = self._dry
        if self._update is not None:
            assigned = {id_: (waiting.record.where, waiting.owner) for id_, waiting in self._waiting.items()}
        for original, owner in batch:
            record = self._named(original, owner, known, assigned)
            self.renamed[owner[:2]] += record.id != original.id and _is_path(original)
            before = known.get(record.id)
            if record.id in assigned or (before and self._is_taken(before, record, owner)):
                first = assigned[record.id][0] if record.id in assigned else before.origin if before else ""
                reason = TAKEN_PAGE if _is_page(record) else TAKEN
                self._reject(Reject(record.where, reason.format(id=record.id, first=first)), owner)
                continue
            hash_ = self._hash(record)
            if before and before.hash == hash_ and record.id not in self._blocks(owner).heirs:
                self._counts.unchanged += 1
                self._mark_seen(before.document)
                if owner.source and (before.source, before.file) != owner[:2]:
                    self.claims.setdefault(owner, []).append(before.document)
            elif not (document := self._cut(record)).passages:
                self._reject(Reject(record.where, NO_TEXT), owner)
                if before and (before.source, before.file) == owner[:2]:
                    self._mark_seen(before.document)  # it stays
            else:
                if before and before.source and not owner.source:
                    owner = Owner(before.source, before.file, "", before.file)
                    self.replaced.add((before.source, before.file))
                changed.append(_ChangedRecord(record, owner, hash_, document, before.document if before else None))
                assigned[record.id] = record.where, owner
                self._count(changed[-1])
        self._write_decided(changed)
        self._cuts.clear()
        self._progress(self._counts)

    def _count(self, one: _ChangedRecord) -> None:
        if one.before is None:
            self._counts.added += 1
            self._blocks(one.owner).count(one.record.id, one.document.blocks)
            return
        self._counts.updated += 1
        if self._update is None:
            self._mark_seen(one.before)  # it would be replaced

    def _known_ids(self, batch: Sequence[tuple[Record, Owner]]) -> Mapping[str, KnownDocument]:
        """The documents that have ids of the batch, also behind the names of their sources."""
        ids = {id_ for record, owner in batch for id_ in (record.id, _longer(record, owner))}
        return {} if self._collection is None or not ids else self._store.known(self._collection, [*ids])

    def _named(
        self,
        record: Record,
        owner: Owner,
        known: Mapping[str, KnownDocument],
        assigned: Mapping[str, Assigned],
    ) -> Record:
        """The record with the id that its document has or gets: behind the source's name if the id is another file's.

        A document that has such an id keeps it if the other file's document is gone.
        """
        longer = _longer(record, owner)
        if self._is_own(known.get(record.id), owner):
            return record
        if self._is_own(known.get(longer), owner) or self._is_others(record, owner, known, assigned):
            return replace(record, id=longer)
        return record

    def _is_own(self, before: KnownDocument | None, owner: Owner) -> bool:
        """Whether a document is that of the file, or of one that is gone from the same source."""
        if before is None or before.source != (owner.source or None):
            return False
        return before.file == owner.file or self._is_gone(before)

    def _is_others(
        self,
        record: Record,
        owner: Owner,
        known: Mapping[str, KnownDocument],
        assigned: Mapping[str, Assigned],
    ) -> bool:
        """Whether another file's document has the id, and the id is a path: the record's, or of another source."""
        before = known.get(record.id)
        if record.id in assigned:
            where, other = assigned[record.id]
        elif before is None or self._is_gone(before):
            return False
        else:
            where, other = before.origin, Owner(before.source or 0, before.file, "")
        if not _is_path(record):
            are_two = other.source != owner.source and 0 not in {other.source, owner.source}
            return are_two and _is_path_of(record.id, where)
        if not other.source:
            return bool(owner.source) and is_other_file(where, record.where)
        return other[:2] != owner[:2]

    def _is_gone(self, before: KnownDocument) -> bool:
        return self._fate is not None and self._fate(before.source or 0, before.file) == "gone"

    def _is_taken(self, before: KnownDocument, record: Record, owner: Owner) -> bool:
        if self.was_seen(before.document):
            return True
        if before.source is None or (before.source, before.file) == owner[:2] or self._fate is None:
            return False
        fate = self._fate(before.source, before.file)
        if fate == "elsewhere":
            return _is_page(record) or _is_path(record)  # a later file replaces records of data by their ids
        if before.source != owner.source:
            return fate != "gone"
        return fate == "settled" and not _is_page(record)  # addresses of a site may lead to one document

    def _write_decided(self, changed: Sequence[_ChangedRecord]) -> None:
        """Store the records whose blocks no earlier document has; further ones show whether others' are boilerplate."""
        decided = []
        for one in changed:
            if self._blocks(one.owner).has_earlier(one.record.id, one.document.blocks):
                self._waiting[one.record.id] = one
            else:
                decided.append(one)
        self._write(decided)
        characters = sum(len(one.record.text) for one in self._waiting.values())
        if len(self._waiting) >= WAITING or characters >= WAITING_CHARACTERS:
            self._write_waiting()

    def _write_waiting(self) -> None:
        self._write([*self._waiting.values()])
        self._waiting.clear()

    def _write(self, changed: Sequence[_ChangedRecord]) -> None:
        if self._update is None:
            return
        self._update.retire([one.before for one in changed if one.before is not None])
        for inserted in self._update.insert([self._document(one) for one in changed], self._name):
            self._mark_seen(inserted.document)
            self._counts.passages += len(inserted.passages)
            self._counts.duplicates += sum(duplicate is not None for duplicate in inserted.duplicates)

    def _cut(self, record: Record, boilerplate: Collection[str] = ()) -> CutRecord:
        if not boilerplate and (ready := self._cuts.pop(record, None)):
            return ready
        characters, overlap = self._passages.characters, self._passages.overlap
        return cut_record(in_its_language(record), characters=characters, overlap=overlap, boilerplate=boilerplate)

    def _blocks(self, owner: Owner) -> RepeatedBlocks:
        return self._boilerplate.of(str(owner.source or self._name))

    def _document(self, changed: _ChangedRecord) -> NewDocument:
        """What is stored of a record; it is cut again if it has boilerplate."""
        record, owner, hash_, document, _ = changed
        if boilerplate := self._blocks(owner).boilerplate(record.id, document.blocks):
            document = self._cut(record, boilerplate)
        shingles = super_shingles_of([one.text for one in document.passages])
        return NewDocument(
            collection=self._collection or 0,
            external_id=record.id,
            title=document.title,
            body=normalise(record.body),
            hash=hash_,
            passages=tuple(
                NewPassage(one.text, one.start, one.end, values, one.place, one.units)
                for one, values in zip(document.passages, shingles, strict=True)
            ),
            url=web_address(record.url),
            origin=record.exported.origin if record.exported else record.where,
            details=replace(document.details, path=_path_of(record, owner)),
            source=owner.source or None,
            file=owner.file,
        )

    def _hash(self, record: Record) -> str:
        if record.exported and record.exported.hash:
            return record.exported.hash
        settings = f"{CUTTING} {self._passages.characters} {self._passages.overlap}"
        known = (record.markdown, record.kind, record.date, record.language, record.archived, record.draft, record.tags)
        if known != (False, "prose", "", "", False, False, ()):  # hashes of version 0.1 stay those of plain records
            rows = "".join(map(repr, record.positions))  # of FAQ sheets: a moved row is cited anew
            settings += f"{MARKDOWN_CUTTING} {known}" if record.markdown else f"{known}{rows}"
        digest = hashlib.blake2b(settings.encode(), digest_size=16)
        for part in (record.title, record.body, record.text, record.url):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def _mark_seen(self, key: int) -> None:
        if key >= len(self._seen):
            self._seen.extend(bytes(key + 1 - len(self._seen)))
        self._seen[key] = 1


def _bad_id(identifier: str) -> str:
    """Why a document cannot have this id; "" if it can."""
    if len(identifier) > LONGEST_ID:
        return f"Expected an id of at most {LONGEST_ID:,} characters, but got {len(identifier):,}; shorten it."
    if has_control_characters(identifier):
        return f"Expected an id without control characters, but got {escaped(identifier)}; remove them."
    return ""


def _collection_key(store: Store, name: str) -> int | None:
    """The key of a collection, or None if it does not exist."""
    return next((info.id for info in store.collections() if info.name == name), None)


def _longer(record: Record, owner: Owner) -> str:
    """The id of a record behind the name of its source; pages are the same document in every source."""
    return record.id if _is_page(record) or not owner.name else f"{owner.name}/{record.id}"


def _is_page(record: Record) -> bool:
    return "://" in record.where


def _is_path(record: Record) -> bool:
    """Whether the id is the path of its file, with or without a part of the file: not an id of the user's data."""
    return _is_path_of(record.id, record.where)


def _is_path_of(id_: str, where: str) -> bool:
    if "://" in where:
        return False
    base, path = re.split("[#:!]", id_, maxsplit=1)[0], file_of(where)
    return f"/{path}".endswith(f"/{base}") or f"/{path.rpartition('!')[2]}".endswith(f"/{base}")


def file_of(where: str) -> str:
    """The path in `PATH:LINE` or `PATH!MEMBER:LINE`, with the member."""
    return re.sub(r":\d+$", "", where)


def _path_of(record: Record, owner: Owner) -> str:
    """The file of a record below its source, with the member of an archive; "" for other records and pages of the web.

    Where the files of two sources have the same names, it begins with the name of the source, as ids do.
    """
    if record.exported:
        return record.exported.path
    where = re.sub(r":[\d.]+$", "", record.where)  # without the line, or the thread of a chat
    if not owner.source or "://" in where:
        return ""
    member = where.removeprefix(owner.location) if where.startswith(f"{owner.location}!") else ""
    is_renamed = record.id.startswith(f"{owner.name}/{owner.stem}") and not record.id.startswith(owner.stem)
    return f"{owner.name}/{owner.stem}{member}" if is_renamed else f"{owner.stem}{member}"


def is_other_file(origin: str, where: str) -> bool:
    """Whether a document that no source holds came from a file that still exists elsewhere."""
    before, now = (file_of(place).partition("!")[0] for place in (origin, where))
    return bool(before) and Path(before).exists() and os.path.realpath(before) != os.path.realpath(now)
