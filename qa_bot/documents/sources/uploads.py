"""Uploads as sources: files that a client sends. Their text is kept in the store, the files themselves are not.

A collection has one such source. Its files are the names that were sent: a file of the same name replaces the
documents of the one before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path

from qa_bot.documents.garbage import rare_collections
from qa_bot.documents.index_update import ChangeError, index_update
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.files.walk import File, printable
from qa_bot.documents.ingest.reading import Reading
from qa_bot.documents.ingest.records import Item, Limits, Record
from qa_bot.documents.reject_log import LISTED, AddReport, reject_log
from qa_bot.documents.sources.listing import FileState
from qa_bot.documents.sources.places import UPLOAD
from qa_bot.documents.sources.plan import REJECTED, SyncPlan
from qa_bot.documents.sources.registry import Registry
from qa_bot.documents.sources.source_run import FileResult, SourceRun
from qa_bot.documents.sources.synchronise import Synchronisation, settings_of
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store import ListedDocument, SourceFile
from qa_core.types import Encoder

NAME = "uploads"
"""Name of the first such source."""
ACTION = "an upload"
"""What a second writer is shown."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent as `name` and is now at `path`, until it is read.

    `format` is one of `FORMATS`, or None to detect it. `title` and `url` are those of its one document, if given.
    """

    name: str
    path: Path
    format: str | None = None
    title: str = ""
    url: str = ""

    @property
    def digest(self) -> str:
        """The digest of everything that its documents are made of."""
        content = file_digest(str(self.path))
        if not (self.title or self.url):
            return content
        return hashlib.blake2b("\0".join((content, self.title, self.url)).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """The report of an upload, and the documents that its files have now, at most `LISTED`."""

    report: AddReport
    documents: tuple[ListedDocument, ...]


@dataclass(slots=True)
class UploadRun(SourceRun):
    """The uploads of a collection while some are added; the others stay unchanged."""

    uploads: Mapping[str, Upload] = field(kw_only=True)
    _digests: dict[str, str] = field(default_factory=dict)

    def compare(self, *, completing: bool, removing: bool, allow_empty: bool = False) -> None:  # noqa: ARG002  # all are there
        """Plan to read what is new, changed, or lacks documents; nothing is ever gone."""
        self.rows, self.plan = self.store.files(self.source.id), SyncPlan()
        held = self.store.documents_by_file(self.source.id) if self.rows else {}
        for name, upload in self.uploads.items():
            self._digests[name] = upload.digest
            self._compare_upload(upload, self.rows.get(name), held.get(name, 0))
        self._note_plan(completing=completing)

    def stem(self, path: str) -> str:
        """The name, behind that of the source if a file of another source has it."""
        stem = SourceRun.stem(self, path)
        is_taken = path not in self.rows and any(self.store.taken([stem], place=self.source.place))
        return f"{self.source.first_name}/{stem}" if is_taken else stem

    def rows_to_store(self, held: Mapping[str, int]) -> Iterator[SourceFile]:
        """The files that have documents; a rejected one can only be sent again."""
        rows = SourceRun.rows_to_store(self, held)
        return (row for row in rows if row.documents or row.outcome != REJECTED)

    @property
    def error(self) -> str:
        """Nothing to remember: the sender got the reasons, and no synchronisation can try again."""
        return ""

    def _compare_upload(self, upload: Upload, row: SourceFile | None, held: int) -> None:
        plan, name = self.plan, upload.name
        if row is None:
            plan.new.append(name)
        elif row.hash != self._digests[name]:
            plan.changed.append(name)
        elif row.outcome == REJECTED or row.settings != self.settings or row.deleted or held < row.documents:
            plan.again.append(name)
        else:
            plan.unchanged += 1
            plan.documents += row.documents
            return
        plan.states[name] = FileState(name, name, upload.path.stat().st_size, 0)

    def _digest(self, state: FileState) -> str:
        return self._digests[state.path]

    def _records(self, result: FileResult, budget: ByteBudget) -> Iterator[Item]:
        """The items of a file, whose places have its name instead of its path."""
        upload = self.uploads[result.state.path]
        reading, where = Reading(upload.format, budget.limits, budget, {}), printable(str(upload.path))
        for item in reading.path(File(upload.path, result.stem), is_named=False):
            placed = replace(item, where=f"{upload.name}{item.where.removeprefix(where)}")
            if isinstance(placed, Record) and upload.title:
                placed = replace(placed, title=upload.title, url=upload.url or placed.url)
            yield placed


def upload(
    home: Home,
    config: Config,
    encoder: Encoder,
    uploads: Sequence[Upload],
    *,
    collection: str | None = None,
    limits: Limits | None = None,
) -> UploadOutcome:
    """Add files that were sent, or replace the documents of earlier ones of the same names; in one generation.

    Args:
        uploads: their names differ, and have no slashes or control characters.
        collection: `default` if it is not given.

    Raises:
        ChangeError: the index was made with another encoder, so everything would be encoded again.
        DiskFullError: there is too little room on the disk.
        WriterBusyError: another process is writing.
    """
    documents: list[ListedDocument] = []
    with rare_collections(), reject_log(home) as log, index_update(home, config, encoder, action=ACTION) as update:
        if update.writer.must_reencode:
            raise ChangeError(
                f"Expected an index made with the encoder {config.dense.encoder}, but got another's; run "
                f"`qa-bot use {config.dense.encoder}` first."
            )
        registry = Registry(update.store, config.passages, update, removing=True)
        run = _run(registry, {one.name: one for one in uploads}, collection or "default")
        budget = ByteBudget(limits or Limits())
        Synchronisation(update.store, update, config.passages, log, lambda _: None, budget, removing=True).run([run])
        names = partial(update.store.sources.listed, run.source.id, list(run.uploads), limit=LISTED)
        update.records.append(lambda: documents.extend(names()))
    return UploadOutcome(log.counts, tuple(documents))


def _run(registry: Registry, uploads: Mapping[str, Upload], collection: str) -> UploadRun:
    """The run of a collection's uploads; makes their source with the first of them."""
    place = f"{UPLOAD}:{collection}"
    source = next((one for one in registry.sources if one.kind == UPLOAD and one.place == place), None)
    is_new = source is None
    if source is None:
        used = {one.name for one in registry.sources}
        name = next(name for name in _names(collection) if name not in used)
        source = registry.new_source(name, UPLOAD, place, collection, {})
        registry.store_later(source)
    settings = settings_of(source, registry.passages)
    run = UploadRun(registry.store.sources, source, settings, uploads=uploads, is_new=is_new)
    run.compare(completing=True, removing=True)
    return run


def _names(collection: str) -> Iterator[str]:
    """Names for the source of a collection: `uploads`, `uploads-hr`, then numbered ones."""
    longer = f"{NAME}-{collection}"
    return chain([NAME, longer], (f"{longer}-{number}" for number in count(2)))
