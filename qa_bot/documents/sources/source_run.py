"""One source within a synchronisation: its plan, the reading of its files, and what became of each."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.files.walk import File, printable
from qa_bot.documents.ingest.reading import Reading
from qa_bot.documents.ingest.records import Item, Record, Reject
from qa_bot.documents.read_ahead.ahead import ReadAhead
from qa_bot.documents.read_ahead.file_read import Request
from qa_bot.documents.record_sync import Fate, Owner, SourceItem
from qa_bot.documents.reject_log import SourceReport
from qa_bot.documents.sources.listing import FileState, Listing
from qa_bot.documents.sources.places import FILE_KINDS
from qa_bot.documents.sources.plan import REJECTED, STALE, WHOLE, SyncPlan, compare
from qa_bot.home.store import Content, Source, SourceFile, SourceStore, with_deleted
from qa_core.counted import counted

YOUNG = 2_000_000_000
"""Nanoseconds: a file that changed so recently may change again without a new time, so its time is not trusted."""
EMPTY = "Expected documents as before, but got none; restore it, or, if they are really gone, sync with --allow-empty."
KEPT = " It keeps {documents} from before."


@dataclass(slots=True)
class FileResult:
    """A file that was read; `first` is the id of its first document."""

    stem: str
    state: FileState
    hash: str
    records: int = 0
    first: str = ""
    outcome: str = WHOLE
    renamed: int = 0  # documents with the name of the source before their ids

    @property
    def content(self) -> Content:
        return Content(self.state.size, self.hash)


@dataclass(slots=True)
class SourceRun:
    """A source, or the path `scope` below it, that is compared and read."""

    store: SourceStore
    source: Source
    settings: str
    scope: str = ""
    plan: SyncPlan = field(default_factory=SyncPlan)
    rows: Mapping[str, SourceFile] = field(default_factory=dict)
    results: dict[str, FileResult] = field(default_factory=dict)
    is_new: bool = False
    first_reject: str = ""
    rejected: int = 0
    allow_empty: bool = False
    _gone: set[str] = field(default_factory=set)
    _deleted: dict[str, frozenset[str]] = field(default_factory=dict)

    def compare(self, *, completing: bool, removing: bool, allow_empty: bool = False) -> None:
        """Plan what to read and remove.

        Args:
            completing: read files again of which documents were deleted.
            removing: read files again whose earlier documents were kept.
            allow_empty: an empty source means that all of its files were deleted.
        """
        self.rows, self.allow_empty = self.store.files(self.source.id, self.scope), allow_empty
        held = self.store.documents_by_file(self.source.id) if completing and self.rows else {}
        self.plan = compare(
            self.rows,
            Listing(Path(self.source.place), self.scope),
            settings=self.settings,
            is_folder=self.source.kind == "folder" if self.rows else None,
            incomplete=lambda row: (
                (completing and (bool(row.deleted) or held.get(row.path, 0) < row.documents))
                or (removing and row.outcome == STALE)
            ),
            removing=removing,
            allow_empty=allow_empty,
        )
        self._note_plan(completing=completing)

    def fate(self, file: str) -> Fate:
        """What the run does with the documents of a file; those outside its scope stay."""
        if file in self.plan.states:
            return "read"
        return "gone" if file in self._gone else "settled"

    def requests(self) -> Iterator[Request]:
        """The files to read, as they may be read ahead."""
        requests = itertools.starmap(self._request, self.plan.states.items())
        return (request for request in requests if request is not None)

    def items(self, budget: ByteBudget, ahead: ReadAhead | None = None) -> Iterator[SourceItem]:
        """The records of the files to read; those of `requests` may be read ahead.

        Raises:
            TotalLimitError: the budget is exhausted; the rest is not read.
        """
        for problem in self.plan.problems:
            self._count(problem)
            yield problem
        for path, state in self.plan.states.items():
            location = printable(state.location)
            yield Owner(self.source.id, path, self.source.first_name, self.stem(path), location, self.deleted(path))
            yield from self._read(path, state, budget, ahead)

    def note_rejected(self, path: str, count: int, first: Reject) -> None:
        """Have a file read again, and say so, because records of it are not stored."""
        self.results[path].outcome = REJECTED
        self.rejected += count
        self.first_reject = self.first_reject or _as_text(first)

    def row(self, path: str, documents: int) -> SourceFile:
        """What is stored of a file that was read."""
        result, state = self.results[path], self.results[path].state
        is_young = time.time_ns() - state.mtime_ns < YOUNG
        mtime = -1 if is_young else state.mtime_ns
        is_renamed = 0 < documents == result.renamed
        stem = f"{self.source.first_name}/{result.stem}" if is_renamed else result.stem
        row = SourceFile(path, stem, state.size, mtime, result.hash, self.settings, result.outcome, documents)
        return row._replace(state=with_deleted(None, self.deleted(path)))

    def rows_to_store(self, held: Mapping[str, int]) -> Iterator[SourceFile]:
        """The rows of all files that were read; `held` has the numbers of their documents by path."""
        return (self.row(path, held.get(path, 0)) for path in self.results)

    def had_other_content(self, path: str, result: FileResult) -> bool:
        """Whether another content than the result's was at a path."""
        return path in self.rows and self.rows[path].content != result.content

    def deleted(self, path: str) -> frozenset[str]:
        """Ids of documents that the user deleted from a file that did not change since."""
        return self._deleted.get(path, frozenset())

    def report(self) -> SourceReport:
        plan, source = self.plan, self.source
        lists = (plan.new, plan.changed, plan.moved, plan.deleted, plan.unchanged + len(plan.again))
        return SourceReport(source.name, source.kind, source.place, *lists, plan.error)

    @property
    def error(self) -> str:
        """What is remembered as the last error of the source."""
        if self.plan.error or not self.rejected:
            return self.plan.error
        return f"{self.rejected:,} rejected, first {self.first_reject}"

    def stem(self, path: str) -> str:
        """What the ids of a file's documents begin with."""
        row = self.rows.get(path)
        return row.stem if row else f"{self.source.options.get('prefix', '')}{path}"

    def _note_plan(self, *, completing: bool) -> None:
        """Note which files go, and which documents stay deleted: none if their files are added again."""
        plan = self.plan
        self._gone = set(plan.gone)
        if not completing:
            self._deleted = {path: self.rows[path].deleted for path in plan.again}
            self._deleted |= {now: self._moved(before, now) for before, now in plan.moved}

    def _moved(self, before: str, now: str) -> frozenset[str]:
        """Deleted ids of a file under its new path."""
        old, new = self.rows[before].stem, self.stem(now)
        return frozenset(new + id_[len(old) :] if id_.startswith(old) else id_ for id_ in self.rows[before].deleted)

    def _read(self, path: str, state: FileState, budget: ByteBudget, ahead: ReadAhead | None) -> Iterator[Item]:
        request = self._request(path, state) if ahead else None
        read = ahead.take(request, budget) if ahead and request else None
        result = FileResult(self.stem(path), state, read.digest if read else self._digest(state))
        last: Reject | None = None
        for item in ahead.items(read) if ahead and read else self._records(result, budget):
            if last is not None:
                yield last
            last = None
            if isinstance(item, Reject):
                result.outcome, last = REJECTED, item
                self._count(item)
                continue
            if isinstance(item, Record):
                result.first = result.first or item.id
                result.records += 1
            yield item
        row = self.rows.get(path)
        if row and row.documents and not (last or result.records) and self._is_single():
            result.outcome, last = REJECTED, Reject(printable(state.location), EMPTY)
            self._count(last)
        if last is not None:
            note = (
                KEPT.format(documents=counted(row.documents, "document"))
                if row and row.documents and not result.records
                else ""
            )
            yield Reject(last.where, last.reason + note)
        self.results[path] = result

    def _is_single(self) -> bool:
        """Whether the source is one file, without which nothing would be left of it."""
        return self.source.kind in ("file", "archive") and not self.allow_empty

    def _request(self, path: str, state: FileState) -> Request | None:
        """A file of the disk, as it may be read ahead; None for what was sent or visited."""
        if self.source.kind not in FILE_KINDS:
            return None
        options, is_named = self.source.options, self.source.kind != "folder"
        name, prefix, format_ = self.stem(path), options.get("prefix", ""), options.get("format") or ""
        return Request(state.location, state.size, name, is_named, prefix, format_)

    def _digest(self, state: FileState) -> str:
        return file_digest(state.location)

    def _records(self, result: FileResult, budget: ByteBudget) -> Iterator[Item]:
        options = self.source.options
        reading = Reading(options.get("format"), budget.limits, budget, {})
        file = File(Path(result.state.location), result.stem)
        return reading.path(file, is_named=self.source.kind != "folder", prefix=options.get("prefix", ""))

    def _count(self, item: Item) -> None:
        if isinstance(item, Reject):
            self.rejected += 1
            self.first_reject = self.first_reject or _as_text(item)


def _as_text(reject: Reject) -> str:
    return f"{reject.where}: {reject.reason}"
