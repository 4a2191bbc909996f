"""Brings the documents of a home in step with its sources, all in one generation."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from qa_bot.documents.boilerplate import Boilerplate, choose_heirs
from qa_bot.documents.cutting.repeated_blocks import RepeatedBlocks
from qa_bot.documents.index_update import IndexUpdate
from qa_bot.documents.ingest.files.byte_budget import ByteBudget, TotalLimitError
from qa_bot.documents.ingest.records import Limits, Reject
from qa_bot.documents.read_ahead.ahead import ReadAhead, reading_ahead
from qa_bot.documents.read_ahead.file_read import Settings
from qa_bot.documents.record_sync import CUTTING, FateOf, Progress, RecordSync, SourceItem, is_other_file
from qa_bot.documents.reject_log import RejectLog
from qa_bot.documents.sources.moves import Moves, rename
from qa_bot.documents.sources.plan import REJECTED, STALE, WHOLE
from qa_bot.documents.sources.source_run import SourceRun
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import OwnedDocument, Source, Store

READING = 3
"""Version of the readers. Raise it when they read better; the next `add` or `sync` then reads all files again."""


def settings_of(source: Source, passages: PassagesSection) -> str:
    """A digest of what affects how the files of a source are read."""
    settings = (READING, CUTTING, source.options.get("format"), passages)
    return hashlib.blake2b(repr(settings).encode(), digest_size=8).hexdigest()


@dataclass(slots=True)
class Synchronisation:
    """One update of several sources. Without an `update` it only counts what would change.

    `removing` also removes documents whose files are gone; otherwise documents are only added and replaced. `ahead` has
    read the first files already.
    """

    store: Store
    update: IndexUpdate | None
    passages: PassagesSection
    log: RejectLog
    progress: Progress
    budget: ByteBudget = field(default_factory=lambda: ByteBudget(Limits()))
    removing: bool = False
    ahead: ReadAhead | None = None

    def run(self, runs: Sequence[SourceRun]) -> None:
        """Read what differs from the runs' plans, store it, and remember the state of the files."""
        self.log.counts.sources += [run.report() for run in runs]
        by_id = {run.source.id: run for run in runs}
        collections = dict.fromkeys(run.source.collection for run in runs)
        for name in collections:
            chosen = [run for run in runs if run.source.collection == name]
            if not any(self._has_work(run) for run in chosen):
                self._skip(chosen)
                continue
            keepers = {run.source.id: self._blocks(run).frequent() for run in chosen}
            records = self._read(
                name, chosen, lambda source, file: by_id[source].fate(file) if source in by_id else "elsewhere"
            )
            if self.update:
                self._follow_moves(name, chosen, self.update)
            for run in chosen:
                self._finish(run, records)
                self._choose_heirs(run, keepers[run.source.id])

    def _read(self, collection: str, runs: Sequence[SourceRun], fate: FateOf) -> RecordSync:
        """Store the records of the files to read, of which the next ones are read ahead."""
        settings = Settings(self.budget.limits, self.passages.characters, self.passages.overlap)
        reading = reading_ahead(lambda: chain.from_iterable(run.requests() for run in runs), settings)
        with nullcontext(self.ahead) if self.ahead else reading as ahead:
            cuts = ahead.cuts if ahead else None
            records = RecordSync(
                self.store, self.update, collection, self.passages, self.log, self.progress, fate=fate, cuts=cuts
            )
            records.run(self._items(runs, ahead))
        return records

    def _has_work(self, run: SourceRun) -> bool:
        return bool(run.plan.states or run.plan.problems or (self.removing and run.plan.gone))

    def _skip(self, runs: Iterable[SourceRun]) -> None:
        for run in runs:
            self.log.counts.unchanged += run.plan.documents
            if self.update:
                self.update.records.append(lambda run=run: self._remember(run, []))  # type: ignore[misc]

    def _items(self, runs: Iterable[SourceRun], ahead: ReadAhead | None) -> Iterator[SourceItem]:
        for run in runs:
            self.log.counts.unchanged += run.plan.documents
            try:
                yield from run.items(self.budget, ahead)
            except TotalLimitError as error:
                yield Reject(run.source.place, str(error))
                return

    def _follow_moves(self, collection: str, runs: Sequence[SourceRun], update: IndexUpdate) -> None:
        """Have votes follow the files that moved, and the files that are gone remembered."""
        moves = Moves(self.store.sources, collection, runs, is_removing=self.removing)
        if moves.find():
            update.records.append(partial(moves.record, self.store.collection(collection)))

    def _finish(self, run: SourceRun, records: RecordSync) -> None:
        """Remove what is gone, and have the state of the files remembered."""
        update = self.update
        gone = self._retire_gone(run, records) if self.removing else []
        self._retire_left_over(run, records)
        if update is None:
            return
        self._replace_sections(run, records, update)
        for (source, path), (count, first) in records.rejected.items():
            if source == run.source.id and path in run.results:
                run.note_rejected(path, count, first)
        for (source, path), count in records.renamed.items():
            if source == run.source.id and path in run.results:
                run.results[path].renamed = count
        claims = {owner: keys for owner, keys in records.claims.items() if owner.source == run.source.id}

        def remember() -> None:
            for owner, keys in claims.items():
                self.store.sources.claim(owner.source, owner.file, keys)
            self._remember(run, gone)

        update.records.append(remember)

    def _blocks(self, run: SourceRun) -> RepeatedBlocks:
        boilerplate = self.update.boilerplate if self.update else Boilerplate()
        return boilerplate.of(str(run.source.id))

    def _choose_heirs(self, run: SourceRun, keepers: Mapping[str, str]) -> None:
        """Have the files read again whose documents keep repeated blocks from now on."""
        if self.update is None:
            return
        store, source = self.store.sources, run.source.id
        for file in choose_heirs(self._blocks(run), keepers, store, source, self.update.number):
            self.update.records.append(partial(store.mark_stale, source, file))

    def _retire_gone(self, run: SourceRun, records: RecordSync) -> list[str]:
        """Remove the documents of deleted and moved files; the files that are forgotten."""
        read = {path for path, result in run.results.items() if result.outcome == WHOLE}
        staying = {before for before, now in run.plan.moved if now not in read}
        gone = [path for path in run.plan.gone if path not in staying]
        owned = [one for one in self.store.sources.of_files(run.source.id, gone) if not records.was_seen(one.document)]
        if self.update:
            repeats = self.store.sources.count_repeats(self.update.number, [one.document for one in owned])
            self.log.counts.duplicates -= repeats  # of what is no longer there
        self._retire(owned)
        return gone

    def _retire_left_over(self, run: SourceRun, records: RecordSync) -> None:
        """Remove documents that a file held before and holds no longer, or mark the file as stale."""
        left: dict[str, list[OwnedDocument]] = {}
        known = (path for path in run.results if path in run.rows)
        for one in self.store.sources.of_files(run.source.id, known):
            if not records.was_seen(one.document):
                left.setdefault(one.file, []).append(one)
        for path, owned in left.items():
            result = run.results[path]
            if result.outcome == WHOLE and self.removing:
                self._retire(owned)
            elif result.outcome == WHOLE:
                result.outcome = STALE

    def _replace_sections(self, run: SourceRun, records: RecordSync, update: IndexUpdate) -> None:
        """Remove the documents that version 0.1 made of a Markdown file's sections; their ids mean the file's now."""
        stems = {
            result.stem: result
            for result in run.results.values()
            if result.outcome != REJECTED and result.first == result.stem
        }
        if not stems:
            return
        collection = self.store.collection(run.source.collection)
        replaced: list[OwnedDocument] = []
        for one in self.store.sources.unowned(collection):
            result = stems.get(one.external_id.partition("#")[0])
            if result and not records.was_seen(one.document) and not is_other_file(one.origin, result.state.location):
                replaced.append(one)
        self._retire(replaced)
        if pairs := [(one.external_id, one.external_id.partition("#")[0], None) for one in replaced]:
            update.records.append(partial(rename, self.store.sources, collection, pairs))

    def _retire(self, owned: Sequence[OwnedDocument]) -> None:
        keys = [one.document for one in owned]
        self.log.counts.removed += self.update.retire(keys) if self.update else len(keys)

    def _remember(self, run: SourceRun, gone: Sequence[str]) -> None:
        """Store the state of the files; only once their documents are in the current generation.

        A new source of which everything was rejected is forgotten, with a format that may be wrong.
        """
        store, source = self.store.sources, run.source
        held = store.documents_by_file(source.id) if run.results else {}
        if run.is_new and run.rejected and not held:
            store.remove(source.id)
            return
        if run.plan.error:
            if not run.scope:
                store.change(source.id, error=run.error)
            return
        if run.results:
            store.save_files(source.id, run.rows_to_store(held))
        store.save_files(source.id, run.plan.touched)
        store.forget_files(source.id, gone)
        if not run.scope:  # otherwise the rest of the source was not compared
            store.change(source.id, synced=time.time(), error=run.error)
