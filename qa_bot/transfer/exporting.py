"""`qa-bot export`: streams everything in a home that cannot be derived into one archive."""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from qa_bot import __version__
from qa_bot.documents import graph
from qa_bot.documents.record_sync import CUTTING
from qa_bot.home.checks.lost_database import expect_database
from qa_bot.home.config import Config, shareable
from qa_bot.home.folder import Home
from qa_bot.home.journal import open_store
from qa_bot.home.store import Feedback, Store, StoredDocument, StoredPassage, Turn
from qa_bot.transfer import archive
from qa_bot.transfer.archive import Cutting, Kind, Manifest, Part
from qa_bot.transfer.source_lines import alias_rows, file_rows, source_rows
from qa_core.atomic import atomic_file
from qa_core.types import NO_PLACE, known_fields
from qa_core.web_addresses import web_address

LEVEL = 6
"""Deflate level; higher ones take much longer for a few percent."""
CHUNK = 256 * 1024
"""Bytes that are compressed at once."""

Progress = Callable[[int, str], object]
Lines = Iterable[tuple[int, bytes]]
"""Bytes to write, each with the number of records in it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Counts of an archive's content."""

    path: str
    bytes: int
    documents: int
    sources: int
    conversations: int
    turns: int
    votes: int
    facts: int
    collections: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """The object of `export --json`."""
        return asdict(self)


def export(
    home: Home,
    config: Config,
    path: Path,
    *,
    force: bool = False,
    progress: Progress = lambda _done, _doing: None,
) -> Exported:
    """Write an archive of the home, with a batch in memory; it blocks other writers, but no readers.

    Raises:
        FileExistsError: `path` exists, and `force` is not set.
        LostDatabaseError: the database lacks the documents of the index.
        WriterBusyError: another process writes to the home.
    """
    with (
        home.lock("export"),
        _whole_store(home, config) as store,
        atomic_file(path, overwrite=force, private=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as zipped,
    ):
        writer = _Writer(zipped, progress)
        collections = _write_documents(writer, store)
        _write_sources(writer, store)
        votes = _write_history(writer, store)
        labels = _write_graph(writer, home)
        writer.lines(archive.SETTINGS, "settings", [(1, shareable(home.path).encode())])
        zipped.writestr(archive.MANIFEST, _manifest(home, config, writer.parts, labels))
    counts = {part.kind: part.records for part in writer.parts}
    return Exported(
        path=str(path),
        bytes=path.stat().st_size,
        documents=sum(collections.values()),
        sources=counts["sources"],
        conversations=counts["conversations"],
        turns=counts["turns"],
        votes=votes,
        facts=counts.get("facts", 0),
        collections=collections,
    )


@contextmanager
def _whole_store(home: Home, config: Config) -> Iterator[Store]:
    with open_store(home, config) as store:
        stored = store.generation()
        expect_database(home, stored.number if stored else None)
        yield store


class _Writer:
    """Writes one part after another, and records its counts and checksum."""

    def __init__(self, zipped: zipfile.ZipFile, progress: Progress) -> None:
        self._zipped, self._progress = zipped, progress
        self.parts: list[Part] = []
        self._done = 0

    def lines(self, path: str, kind: Kind, lines: Lines, *, collection: str = "") -> None:
        with self._part(path, kind, collection) as part:
            buffer, records = bytearray(), 0
            for count, data in lines:
                buffer += data
                records += count
                if len(buffer) >= CHUNK:
                    part.write(buffer, records)
                    self._report(records, kind)
                    buffer, records = bytearray(), 0
            part.write(buffer, records)
            self._report(records, kind)

    def copy(self, path: str, kind: Kind, source: Path) -> None:
        with self._part(path, kind, "") as part, source.open("rb") as file:
            while data := file.read(CHUNK):
                part.write(data, data.count(b"\n"))
                self._report(0, kind)

    @contextmanager
    def _part(self, path: str, kind: Kind, collection: str) -> Iterator[_OpenPart]:
        with self._zipped.open(path, "w", force_zip64=True) as member:
            written = _OpenPart(member)
            yield written
        digest = written.digest.hexdigest()
        self.parts.append(
            Part(
                path=path,
                kind=kind,
                records=written.records,
                bytes=written.size,
                sha256=digest,
                collection=collection,
            )
        )

    def _report(self, records: int, kind: str) -> None:
        self._done += records
        self._progress(self._done, f"Exporting {kind}")


@dataclass(slots=True)
class _OpenPart:
    member: IO[bytes]
    records: int = 0
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def write(self, data: bytes | bytearray, records: int) -> None:
        self.member.write(data)
        self.digest.update(data)
        self.size += len(data)
        self.records += records


def _write_documents(writer: _Writer, store: Store) -> dict[str, int]:
    """Write a part for each collection; return the numbers of documents."""
    names = [collection.name for collection in store.collections() if collection.documents]
    for number, name in enumerate(names, start=1):
        lines = ((1, _line(document_fields(row))) for row in store.stream_documents(collection=name))
        writer.lines(f"documents/{number}.jsonl", "documents", lines, collection=name)
    return {part.collection: part.records for part in writer.parts}


def document_fields(document: StoredDocument) -> dict[str, Any]:
    """A document for `add`, with the fields by which another home recognises it."""
    fields: dict[str, Any] = {
        "_id": document.external_id,
        "title": document.title,
        "body": document.body,
        "url": web_address(document.url),
        "origin": document.origin,
        "hash": document.hash,
    }
    if document.source is not None:
        fields |= {"source": document.source, "file": document.file}
    if details := known_fields(document.details):
        fields["details"] = details
    if all(passage.place == NO_PLACE for passage in document.passages):
        spans = [(passage.start, passage.end) for passage in document.passages]
        return {**fields, "text": text_of(document.passages), "spans": spans}
    text = "\n\n".join(passage.text for passage in document.passages)
    return {**fields, "text": text, "passages": [_passage_fields(passage) for passage in document.passages]}


def _write_sources(writer: _Writer, store: Store) -> None:
    """Write what was added, the state of its files, and former ids of documents."""
    writer.lines(archive.SOURCES, "sources", ((1, _line(fields)) for fields in source_rows(store)))
    writer.lines(archive.FILES, "files", ((1, _line(fields)) for fields in file_rows(store)))
    writer.lines(archive.ALIASES, "aliases", ((1, _line(fields)) for fields in alias_rows(store)))


def _passage_fields(passage: StoredPassage) -> dict[str, Any]:
    """A passage of a document with structure: its headings and repeated headers are not in the text between spans."""
    return {
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "place": known_fields(passage.place),
        "units": passage.units,
    }


def text_of(passages: Sequence[StoredPassage]) -> str:
    """The text of passages, in which the white space between them has its original length."""
    parts, end = [], 0
    for passage in passages:
        gap = passage.start - end
        parts.append("\n\n" if gap == 2 else " " * gap)
        parts.append(passage.text[max(0, -gap) :])
        end = max(end, passage.end)
    return "".join(parts)


def _write_history(writer: _Writer, store: Store) -> int:
    """Write conversations, turns and settled questions; return the number of votes."""
    votes = 0

    def turns() -> Iterator[tuple[int, bytes]]:
        nonlocal votes
        for turn, feedback in store.stream_turns():
            votes += len(feedback)
            yield 1, _line(turn_fields(turn, feedback))

    keys = ("id", "title", "persona", "created", "updated")
    conversations = ({key: getattr(row, key) for key in keys} for row in store.stream_conversations())
    writer.lines(archive.TURNS, "turns", turns())  # before the conversations, so that none of these is missing
    writer.lines(archive.CONVERSATIONS, "conversations", ((1, _line(fields)) for fields in conversations))
    settled = ({"key": key, "settled": when} for key, when in store.settled_gaps())
    writer.lines(archive.SETTLED, "settled", ((1, _line(fields)) for fields in settled))
    return votes


def turn_fields(turn: Turn, feedback: Iterable[Feedback]) -> dict[str, Any]:
    names = ("id", "conversation", "asked", "created", "question", "rewritten", "answer", "timings")
    votes = [{"vote": vote.vote, "comment": vote.comment, "created": vote.created} for vote in feedback]
    return {**{name: getattr(turn, name) for name in names}, "feedback": votes}


def _write_graph(writer: _Writer, home: Home) -> list[str]:
    """Write facts and tables of names, if any; return the additional predicates of names."""
    with graph.generations(home).pin_current() as generation:
        if generation is None:
            return []
        writer.lines(archive.FACTS, "facts", graph.statements(generation))
        for number, table in enumerate(graph.tables(generation), start=1):
            packed = table.suffix if table.suffix in (".gz", ".bz2") else ""
            writer.copy(f"mentions/{number}.tsv{packed}", "mentions", table)
        return list(generation.manifest.get("labels", ()))


def _manifest(home: Home, config: Config, parts: Sequence[Part], labels: Sequence[str]) -> bytes:
    passages = config.passages
    manifest = Manifest(
        format="qa-bot export",
        version=archive.VERSION,
        made=time.time(),
        by=__version__,
        cutting=Cutting(version=CUTTING, characters=passages.characters, overlap=passages.overlap),
        encoder=config.dense.encoder,
        trained={"models": _folders(home.models), "personas": _folders(home.personas)},
        labels=list(labels),
        parts=list(parts),
    )
    return orjson.dumps(manifest.model_dump(), option=orjson.OPT_INDENT_2)


def _folders(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir() if entry.is_dir()) if path.is_dir() else []


def _line(fields: dict[str, Any]) -> bytes:
    return orjson.dumps(fields) + b"\n"
