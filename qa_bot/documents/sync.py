"""Everything that changes a home: add, delete, change the encoder, rebuild.

Each is one new generation: the store's rows and the index's files are written beside what readers see, then
`CURRENT` is switched. A process that dies in between leaves the old generation; the next writer clears up.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from qa_bot.documents import graph
from qa_bot.documents.ingest.detect import FORMATS
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.near_duplicates import super_shingles
from qa_bot.documents.ingest.passages import cut
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_bot.documents.seen_files import KEPT, SeenFiles, signature
from qa_bot.home import starter
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Generations
from qa_bot.home.index import IndexWriter
from qa_bot.home.journal import open_store
from qa_bot.home.store import InsertedDocument, KnownDocument, NewDocument, NewPassage, Store, StoredDocument
from qa_core.text.analysis import normalise
from qa_core.types import Encoder
from retrievers.engines.local.dense import Kind
from retrievers.engines.local.segments import IndexedDocument, IndexedPassage

BATCH = 500
"""Documents looked up and stored at once …"""
BATCH_CHARACTERS = 4_000_000
"""… unless they are long: memory must not grow with the input."""
KEPT_GENERATIONS = 2
WORTH_A_RECEIPT = 1_000_000
"""Bytes; a smaller file is read again as fast as it is looked up."""
CUTTING = 1
"""Part of every document's hash: raise it when normalising or cutting changes, so that the next `add` replaces all."""

NOTICES = 1000
"""Repairs that are told one by one; a folder of broken files may hold any number."""
NO_TEXT = "Expected text, but got none; give the record an answer or text."

Progress = Callable[["AddReport"], None]


class ChangeError(ValueError):
    """A change that cannot be made; the message says why and what to do."""


@dataclass(slots=True)
class AddReport:
    """What became of the records of an `add`; `examples` are the first rejects, all of them are in `rejects_file`."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    rejected: int = 0
    passages: int = 0
    duplicates: int = 0
    notices: list[Notice] = field(default_factory=list)
    examples: list[Reject] = field(default_factory=list)
    rejects_file: Path | None = None

    @property
    def records(self) -> int:
        return self.added + self.updated + self.unchanged + self.rejected

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated)

    def as_dict(self) -> dict[str, Any]:
        """The object of `add --json`."""
        counts = ("added", "updated", "unchanged", "rejected", "passages", "duplicates")
        return {
            **{name: getattr(self, name) for name in counts},
            "notices": [f"{notice.where}: {notice.message}" for notice in self.notices],
            "rejects": [{"where": reject.where, "reason": reject.reason} for reject in self.examples],
            "rejects_file": str(self.rejects_file) if self.rejects_file else None,
        }


@dataclass(slots=True)
class IndexUpdate:
    """A generation in the making."""

    store: Store
    number: int
    writer: IndexWriter
    receipts: SeenFiles
    touched: bool = False

    def insert(self, documents: Sequence[NewDocument], collection: str) -> list[InsertedDocument]:
        """Add documents whose predecessors are retired."""
        inserted = self.store.insert(self.number, documents)
        self.writer.add(_indexed(new, keys, collection) for new, keys in zip(documents, inserted, strict=True))
        self.touched = self.touched or bool(inserted)
        return inserted

    def retire(self, keys: Sequence[int]) -> int:
        """Take documents out; how many were in."""
        if not keys:
            return 0
        retired = self.store.retire(self.number, keys)
        self.writer.delete(keys)
        if retired:
            self.touched = True
            self.receipts.held.clear()
        return retired


@contextmanager
def index_update(
    home: Home,
    config: Config,
    encoder: Encoder,
    *,
    action: str | None,
    encoder_name: str = "",
    from_nothing: bool = False,
) -> Iterator[IndexUpdate]:
    """Hold the writer's lock, make the next generation, and publish it on leaving if anything was touched.

    An error that passes through leaves the old generation; its rows in the store are undone by the next writer.

    Args:
        action: the verb that a second writer is told; None where the caller holds the lock.
        from_nothing: build on an empty index instead of the current one (`repair`).

    Raises:
        WriterBusyError: another process is writing.
        CorruptGenerationError: the current generation cannot be built upon.
        ChangeError: store and index do not belong together.
    """
    with home.lock(action), open_store(home, config) as store:
        generations = Generations(home.index)
        previous = None if from_nothing else generations.current()
        if previous:
            generations.expect_whole(previous)
        number = _begun(store, generations, encoder, repairing=from_nothing)
        staged = generations.stage(number)
        writer = IndexWriter(
            staged, previous, encoder, encoder_name=encoder_name or config.dense.encoder, kind=_kind(config)
        )
        change = IndexUpdate(store, number, writer, SeenFiles.of(previous.manifest if previous else {}))
        try:
            yield change
            if change.touched:
                manifest = writer.finish()
                generations.publish(staged, {**manifest.as_dict(), "receipts": change.receipts.as_dict()})
        except BaseException:
            writer.abandon()
            shutil.rmtree(staged, ignore_errors=True)  # a full disk needs the room at once
            raise
        if not change.touched:
            store.roll_back(number)
            shutil.rmtree(staged)
            return
        store.finish(number, {"documents": manifest.documents, "passages": manifest.passages})
        generations.prune(keep=KEPT_GENERATIONS)
        store.purge(number)


def _kind(config: Config) -> Kind | None:
    return None if config.dense.index == "auto" else config.dense.index


def _begun(store: Store, generations: Generations, encoder: Encoder, *, repairing: bool) -> int:
    """The number of a new generation, after what a dead writer left was cleared up."""
    published = _published(generations)
    number = store.begin(encoder.fingerprint, published=published)
    stored = store.generation()
    if (stored.number if stored else None) == published or (stored and repairing):
        return number
    store.roll_back(number)
    if stored is None:
        raise ChangeError(
            f"Expected the database of the index in {generations.root}, but got an empty one; put back a copy of it, "
            "or move the index away to begin anew."
        )
    raise ChangeError(
        f"Expected generation {stored.number} of the index in {generations.root}, as in the database, but got "
        f"{published or 'none'}; run `qa-bot repair`."
    )


def _published(generations: Generations) -> int | None:
    """The generation that readers take, or, where `CURRENT` cannot be read, the one that they took most likely."""
    try:
        return generations.current_number()
    except CorruptGenerationError:
        return generations.newest() or None


def add(
    home: Home,
    config: Config,
    encoder: Encoder,
    paths: Sequence[Path],
    *,
    collection: str = "default",
    format: str | None = None,  # noqa: A002 (the flag's own name)
    limits: Limits | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _: None,
) -> AddReport:
    """Add or update the documents of files and folders; unchanged ones cost a look-up.

    Where the index was made with another encoder, everything is encoded anew.

    Raises:
        FileNotFoundError: a path does not exist; nothing was changed.
        ChangeError: the format is unknown.
        WriterBusyError: another process is writing.
    """
    _expect_input(paths, format)
    budget = ByteBudget(limits or Limits())
    with ExitStack() as stack:
        log = stack.enter_context(reject_log(None if dry_run else home))
        if dry_run:
            store, change = stack.enter_context(Store.open(home.store_url(config))), None
            receipts = SeenFiles.of(_manifest(home))
        else:
            change = stack.enter_context(index_update(home, config, encoder, action="add"))
            change.touched = change.writer.encodes_anew
            store, receipts = change.store, change.receipts
        adding = _Adding(store, change, receipts, collection, config, log, progress)
        settings = (collection, format, budget.limits, CUTTING, config.passages)
        for group, signed in _grouped(paths, settings):
            adding.run((item for path in group for item in read(path, format=format, budget=budget)), signed)
    return log.counts


def add_records(
    home: Home, config: Config, encoder: Encoder, records: Iterable[Record], *, collection: str, action: str = "add"
) -> AddReport:
    """Add or update documents that come from no file.

    Raises:
        ChangeError: the index was made with another encoder, so that everything would be encoded anew.
        WriterBusyError: another process is writing.
    """
    with reject_log(None) as log, index_update(home, config, encoder, action=action) as change:
        if change.writer.encodes_anew:
            raise ChangeError(
                f"Expected an index made with the encoder {config.dense.encoder}, but got one of another; run "
                f"`qa-bot use {config.dense.encoder}` first."
            )
        _Adding(change.store, change, change.receipts, collection, config, log, lambda _: None).run(records)
    return log.counts


def join(
    home: Home,
    config: Config,
    encoder: Encoder,
    collections: Iterable[tuple[str, Iterable[Item]]],
    log: RejectLog,
    *,
    action: str | None = "import",
    progress: Progress = lambda _: None,
) -> None:
    """Add or update the documents of several collections, by name, in one generation; `log` is told what became of all.

    Raises:
        WriterBusyError: another process is writing; `action` None: the caller holds the lock.
    """
    with index_update(home, config, encoder, action=action) as change:
        change.touched = change.writer.encodes_anew
        for name, items in collections:
            _Adding(change.store, change, change.receipts, name, config, log, progress).run(items)


def _grouped(paths: Iterable[Path], settings: tuple[object, ...]) -> Iterator[tuple[list[Path], str | None]]:
    """Large files one by one, each with its signature; what stands between them together."""
    small: list[Path] = []
    for path in paths:
        if path.is_file() and path.stat().st_size >= WORTH_A_RECEIPT:
            yield small, None
            yield [path], signature(path, *settings)
            small = []
        else:
            small.append(path)
    yield small, None


def _manifest(home: Home) -> Mapping[str, Any]:
    current = Generations(home.index).current()
    return current.manifest if current else {}


def _expect_input(paths: Iterable[Path], wanted: str | None) -> None:
    for path in paths:
        if not path.exists() and not path.is_symlink():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist.")
    if wanted is not None and wanted not in FORMATS:
        raise ChangeError(f"Expected one of the formats {', '.join(FORMATS)}, but got {wanted!r}.")


def delete(
    home: Home, config: Config, encoder: Encoder, *, ids: Sequence[str] = (), collection: str | None = None
) -> tuple[int, list[str]]:
    """Remove documents everywhere: how many went, and the ids that nobody has.

    With the starter collection the facts of the starter graph go, too.
    """
    if collection == starter.NAME:
        graph.remove(home, namespace=starter.NAMESPACE)
    with index_update(home, config, encoder, action="delete") as change:
        if collection is not None:
            return change.retire(change.store.of_collection(collection)), []
        found = change.store.find(ids)
        keys = sorted(key for held in found.values() for key in held)
        return change.retire(keys), [each for each in ids if each not in found]


def switch_encoder(home: Home, config: Config, encoder: Encoder, *, name: str) -> None:
    """Encode everything anew with another encoder beside the running index, then swap."""
    with index_update(home, config, encoder, action="use", encoder_name=name) as change:
        change.touched = True


def repair(home: Home, config: Config, encoder: Encoder, *, progress: Callable[[int], None] = lambda _: None) -> int:
    """Rebuild the index from the store; how many documents."""
    count = 0
    with index_update(home, config, encoder, action="repair", from_nothing=True) as change:
        change.touched = change.store.generation() is not None  # else the home is still empty
        documents = change.store.stream_documents()
        while batch := list(islice(documents, BATCH)):
            change.writer.add(map(_stored, batch))
            count += len(batch)
            progress(count)
    return count


class RejectLog:
    """Counts everything, and writes rejects to a file, a JSON object a line; the file is made for the first one."""

    EXAMPLES = 20

    def __init__(self, file: Path | None) -> None:
        self.counts = AddReport()
        self._path = file
        self._file: BinaryIO | None = None

    def reject(self, reject: Reject) -> None:
        self.counts.rejected += 1
        if len(self.counts.examples) < self.EXAMPLES:
            self.counts.examples.append(reject)
        if self._path and not self._file:
            self._path.parent.mkdir(exist_ok=True)
            self._file, self.counts.rejects_file = self._path.open("wb"), self._path
        if self._file:
            self._file.write(orjson.dumps({"where": reject.where, "reason": reject.reason}) + b"\n")

    def notice(self, notice: Notice) -> None:
        if len(self.counts.notices) < NOTICES:
            self.counts.notices.append(notice)

    def close(self) -> None:
        if self._file:
            self._file.close()


@contextmanager
def reject_log(home: Home | None) -> Iterator[RejectLog]:
    """Where what could not be added is told: in a file of the home, or with None in the counts alone."""
    name = time.strftime("%Y%m%d-%H%M%S") + f"-{time.time_ns() % 1_000_000_000:09d}.jsonl"
    with closing(RejectLog(home.path / "rejects" / name if home else None)) as log:
        yield log


class _Adding:
    """One run of `add`: compares records with the store, batch by batch."""

    def __init__(
        self,
        store: Store,
        change: IndexUpdate | None,
        receipts: SeenFiles,
        collection: str,
        config: Config,
        log: RejectLog,
        progress: Progress,
    ) -> None:
        """Without a `change` only counts what would happen."""
        self._store, self._change, self._name, self._log = store, change, collection, log
        self._receipts = receipts
        self._characters, self._overlap = config.passages.characters, config.passages.overlap
        self._progress, self._counts = progress, log.counts
        self._collection = store.collection(collection) if change else _collection(store, collection)
        self._seen = bytearray()  # by key: whether a document was met in this run
        self._repeats = 0
        self._counted: set[str] = set()  # ids of the new documents that a dry run has met: the store will not know

    def run(self, items: Iterable[Item], signed: str | None = None) -> None:
        """Take the records of files, or of none where a receipt tells that all of them are in already.

        Args:
            signed: signature of the one file that the items come from.
        """
        if signed and (receipt := self._receipts.held.get(signed)):
            self._counts.unchanged += receipt.documents
            self._tell((*receipt.rejects, *receipt.notices))
            return
        before, repeats = self._documents, self._repeats
        told = self._tell(self._records(items))
        if signed and self._repeats == repeats:
            self._receipts.keep(signed, self._documents - before, told)

    @property
    def _documents(self) -> int:
        return self._counts.records - self._counts.rejected

    def _records(self, items: Iterable[Item]) -> Iterator[Reject | Notice]:
        """Take the records of a stream, in batches; what else is in it."""
        batch: list[Record] = []
        characters = 0
        for item in items:
            if not isinstance(item, Record):
                yield item
                continue
            batch.append(item)
            characters += len(item.text)
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                yield from self._take(batch)
                batch, characters = [], 0
        yield from self._take(batch)

    def _tell(self, items: Iterable[Reject | Notice]) -> list[Reject | Notice]:
        """RejectLog rejects and notices; the first of them, one more than a receipt holds."""
        told: list[Reject | Notice] = []
        for item in items:
            if isinstance(item, Reject):
                self._log.reject(item)
            else:
                self._log.notice(item)
            if len(told) <= KEPT:
                told.append(item)
        return told

    def _take(self, batch: Sequence[Record]) -> Iterator[Reject]:
        """Store what is new or changed of a batch; what is rejected of it."""
        known = self._known([record.id for record in batch])
        new: dict[str, NewDocument] = {}
        retired: list[int] = []
        for record in batch:
            before = known.get(record.id)
            if record.id in new or record.id in self._counted or (before and self._was_seen(before.document)):
                self._repeats += 1
                yield Reject(record.where, _repeated(record))
                continue
            hash_ = self._hash(record)
            if before and before.hash == hash_:
                self._counts.unchanged += 1
                self._see(before.document)
            elif not (document := self._document(record, hash_)).passages:
                yield Reject(record.where, NO_TEXT)
            else:
                new[record.id] = document
                self._count(before)
                if before:
                    retired.append(before.document)
        self._write(list(new.values()), retired)
        self._progress(self._counts)

    def _known(self, ids: Sequence[str]) -> Mapping[str, KnownDocument]:
        return {} if self._collection is None or not ids else self._store.known(self._collection, ids)

    def _write(self, new: Sequence[NewDocument], retired: Sequence[int]) -> None:
        if self._change is None:
            self._counted.update(document.external_id for document in new)
            return
        self._change.retire(retired)
        for inserted in self._change.insert(new, self._name):
            self._see(inserted.document)
            self._counts.passages += len(inserted.passages)
            self._counts.duplicates += sum(duplicate is not None for duplicate in inserted.duplicates)

    def _count(self, before: KnownDocument | None) -> None:
        if before:
            self._counts.updated += 1
        else:
            self._counts.added += 1

    def _document(self, record: Record, hash_: str) -> NewDocument:
        text = normalise(record.text)
        if record.exported and record.exported.spans and text == record.text:
            spans = list(record.exported.spans)
        else:
            spans = cut(text, characters=self._characters, overlap=self._overlap)
        return NewDocument(
            collection=self._collection or 0,
            external_id=record.id,
            title=normalise(record.title),
            body=normalise(record.body),
            hash=hash_,
            passages=tuple(NewPassage(text[a:b], a, b, super_shingles(text[a:b])) for a, b in spans),
            url=record.url,
            origin=record.exported.origin if record.exported else record.where,
        )

    def _hash(self, record: Record) -> str:
        if record.exported and record.exported.hash:
            return record.exported.hash
        digest = hashlib.blake2b(f"{CUTTING} {self._characters} {self._overlap}".encode(), digest_size=16)
        for part in (record.title, record.body, record.text, record.url):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def _see(self, key: int) -> None:
        if key >= len(self._seen):
            self._seen.extend(bytes(key + 1 - len(self._seen)))
        self._seen[key] = 1

    def _was_seen(self, key: int) -> bool:
        return key < len(self._seen) and self._seen[key] == 1


def _collection(store: Store, name: str) -> int | None:
    """The key of a collection, None where there is none of that name."""
    return next((each.id for each in store.collections() if each.name == name), None)


def _repeated(record: Record) -> str:
    return f"Expected ids that differ, but got {record.id!r} again; the first one is kept. Rename this one."


def _indexed(new: NewDocument, keys: InsertedDocument, collection: str) -> IndexedDocument:
    passages = tuple(IndexedPassage(key, p.text) for key, p in zip(keys.passages, new.passages, strict=True))
    return IndexedDocument(keys.document, new.external_id, new.title, new.body, new.url, collection, passages)


def _stored(stored: StoredDocument) -> IndexedDocument:
    passages = tuple(IndexedPassage(p.key, p.text) for p in stored.passages)
    return IndexedDocument(
        stored.key, stored.external_id, stored.title, stored.body, stored.url, stored.collection, passages
    )
