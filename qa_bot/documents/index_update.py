"""One update of a home: store rows and index files are written as a new generation, then committed together.

The protocol is in `qa_bot/home/generations/commit.py`. If the process dies before the commit, the old generation stays,
and the next writer removes the remains of the new one.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from qa_bot.documents.boilerplate import Boilerplate
from qa_bot.home.checks.lost_database import LOST
from qa_bot.home.config import Config
from qa_bot.home.encoders import TRANSFORMER, EncoderError, name_of, resolve
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Generation, Generations
from qa_bot.home.generations.commit import Switch, commit, discard, finish_announced
from qa_bot.home.generations.pending_settings import PendingSettings, announce_settings, finish_settings
from qa_bot.home.index import Manifest
from qa_bot.home.index_writer import Fallback, IndexWriter
from qa_bot.home.journal import open_store
from qa_bot.home.kept_vectors import KeptVectors, keep_generation
from qa_bot.home.store import InsertedDocument, NewDocument, Store, StoredDocument, StoreError
from qa_core.text.language_detection import language_of
from qa_core.text.sentences import sentences
from qa_core.types import Encoder
from retrievers.engines.local.segments import IndexedDocument, IndexedPassage

BATCH = 500
"""Documents that are copied from the store at once."""
KEPT_GENERATIONS = 2
FEW = 128
"""Passages that the transformer encodes in two to four seconds …"""
QUICKER = 20
"""… and how many times as many the table encodes in the same time."""
ERASING, LOOK = 10.0, 0.2
"""Seconds that a service has to change to the new generation, and between two looks."""
QUICK = (
    "All passages are searched with quick vectors again, because the index was rebuilt or many are new. "
    "`qa-bot improve` makes better ones of what is new."
)
ALTERED = (
    "%d documents differ from what was stored and are left out of the index: %s. Bring back a backup with "
    "`qa-bot restore DIR`, or add their sources again."
)
MOST_NAMED = 5
MOST_READ = 4
"""Passages that show the language of a document stored without one."""


log = logging.getLogger(__name__)


class ChangeError(ValueError):
    """The home cannot be changed; the message says why and what to do."""


@dataclass(slots=True)
class IndexUpdate:
    """A generation that is being built."""

    store: Store
    number: int
    writer: IndexWriter
    boilerplate: Boilerplate
    touched: bool = False
    records: list[Callable[[], None]] = field(default_factory=list)
    """Called in the transaction that commits, also if no document was changed: they record what was read."""
    switches: list[Switch] = field(default_factory=list)
    """Further generations that become current with this one: the graph's."""

    def insert(self, documents: Sequence[NewDocument], collection: str) -> list[InsertedDocument]:
        """Add documents; earlier versions of them must be retired before."""
        inserted = self.store.insert(self.number, documents)
        self.writer.add(_indexed(new, keys, collection) for new, keys in zip(documents, inserted, strict=True))
        self.touched = self.touched or bool(inserted)
        return inserted

    def retire(self, keys: Sequence[int]) -> int:
        """Remove documents by key, and return how many existed."""
        if not keys:
            return 0
        retired = self.store.retire(self.number, keys)
        self.writer.delete(keys)
        if retired:
            self.touched = True
        return retired

    def rebuild(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Index every document of the store that is unaltered, and return their number."""
        self.touched = self.store.generation() is not None  # otherwise the home is still empty
        altered = {d.key: d.id for d in self.store.integrity.documents() if d.state == "altered"}
        if altered:
            log.warning(ALTERED, len(altered), ", ".join([*altered.values()][:MOST_NAMED]))
        count, documents = 0, self.store.integrity.stream(altered.keys())
        while batch := list(islice(documents, BATCH)):
            self.writer.add(map(_stored, batch))
            count += len(batch)
            progress(count)
        return count


@contextmanager
def index_update(
    home: Home,
    config: Config,
    encoder: Encoder,
    *,
    action: str | None,
    encoder_name: str = "",
    settings: Mapping[str, str] | None = None,
    from_nothing: bool = False,
) -> Iterator[IndexUpdate]:
    """Build the next generation under the writer lock, and commit it on exit if anything changed.

    On an error the old generation stays. An index of another analyser is rebuilt from the store first.

    Args:
        action: the verb that a second writer is shown, or None if the caller holds the lock.
        settings: of `qa-bot.toml`, which hold with the new generation.
        from_nothing: start from an empty index instead of the current one (`repair`).

    Raises:
        WriterBusyError: another process is writing.
        CorruptGenerationError: the current generation is damaged.
        ChangeError: store and index do not belong together.
    """
    with home.lock(action), open_store(home, config) as store:
        generations = Generations(home.index)
        finish_announced(store.commits, (generations, Generations(home.graph)))
        finish_settings(home)
        previous = None if from_nothing else _whole(generations)
        number = _begin(store, generations, encoder, repairing=from_nothing)
        staged = generations.stage(number)
        outdated = previous is not None and Manifest.of(previous).is_outdated
        improved = None if encoder_name else _improved(home, config, previous or _sound(generations))
        quick = Fallback(encoder, encoder_name or config.dense.encoder, _few(previous))
        writer = _writer(staged, None if outdated else previous, config, quick, improved if previous else None)
        update = IndexUpdate(store, number, writer, Boilerplate(_manifest(generations)))
        try:
            if outdated:
                update.rebuild()
            yield update
            if update.touched:
                update.switches.append(Switch(generations, _prepare(update, generations, staged)))
                if settings:
                    announce_settings(home, PendingSettings(update.number, settings))
        except BaseException:
            _give_up(update, staged)
            raise
        try:
            _commit(update)
        finally:
            finish_settings(home)
        if not update.touched:
            writer.abandon()
            shutil.rmtree(staged)
        elif improved and (writer.fell_back or not previous):
            log.warning(QUICK)
            _keep_better(home, improved)
        _clean_up(update, (generations, Generations(home.graph)))


def erase_deleted(home: Home, config: Config, encoder: Encoder) -> None:
    """Make the index anew and remove all former generations, so that no file of the home holds a deleted text.

    An index of tombstones and two generations keep it otherwise until enough others are deleted.

    Raises ChangeError if another process uses a former generation for longer than `ERASING` seconds.
    """
    with home.lock("delete"):
        with index_update(home, config, encoder, action=None, from_nothing=True) as update:
            update.rebuild()
        generations, end = Generations(home.index), time.monotonic() + ERASING
        while generations.prune(keep=1) or generations.has_former():
            if time.monotonic() > end:
                raise ChangeError(
                    f"Expected to remove former generations in {generations.root}, but one is still in use by another "
                    "process; stop it and run the same command again."
                )
            time.sleep(LOOK)


def _give_up(update: IndexUpdate, staged: Path) -> None:
    """Remove the new generations at once, because the disk may be full."""
    update.writer.abandon()
    discard(update.switches)
    shutil.rmtree(staged, ignore_errors=True)


def _prepare(update: IndexUpdate, generations: Generations, staged: Path) -> Generation:
    """The complete generation, which is not current yet."""
    manifest = update.writer.finish()
    counts = {"documents": manifest.documents, "passages": manifest.passages}
    update.records.insert(0, partial(update.store.finish, update.number, counts))
    return generations.prepare(staged, {**manifest.as_dict(), **update.boilerplate.as_dict()})


def _commit(update: IndexUpdate) -> None:
    """Make everything visible at once: documents, index, graph, and what they were made from."""
    if not update.touched:
        update.records.insert(0, partial(update.store.roll_back, update.number))

    def record() -> None:
        for one in update.records:
            one()

    commit(update.store.commits, update.switches, record)


def _clean_up(update: IndexUpdate, roots: Sequence[Generations]) -> None:
    """Remove what is no longer used; if that fails, the next update does it."""
    try:
        for root in roots:
            root.prune(keep=KEPT_GENERATIONS)
        if update.touched:
            update.store.purge(update.number)
    except (OSError, StoreError) as error:
        log.warning("The change is saved, but what it replaced is not removed yet; the next change does it: %s", error)


class _Improved(NamedTuple):
    """A generation with the vectors of the transformer."""

    generation: Generation
    encoder: Encoder


def _writer(
    staged: Path, previous: Generation | None, config: Config, quick: Fallback, improved: _Improved | None
) -> IndexWriter:
    """A writer with the transformer, which falls back to the quick encoder, or with the quick one alone."""
    return IndexWriter(
        staged,
        previous,
        improved.encoder if improved else quick.encoder,
        encoder_name=TRANSFORMER if improved else quick.name,
        kind=None if config.dense.index == "auto" else config.dense.index,
        fallback=quick if improved else None,
    )


def _improved(home: Home, config: Config, generation: Generation | None) -> _Improved | None:
    """The generation if the transformer made it and `starter` is configured; None if it cannot be opened."""
    if generation is None:
        return None
    manifest = Manifest.of(generation)
    if config.dense.encoder == name_of(config.dense.encoder, manifest.encoder):
        return None
    try:
        encoder = resolve(TRANSFORMER, models=home.models, threads=config.dense.threads)
    except EncoderError as error:
        log.warning("The better vectors are given up: %s", error)
        return None
    return _Improved(generation, encoder) if encoder.fingerprint == manifest.fingerprint else None


def _whole(generations: Generations) -> Generation | None:
    """The current generation, None in a home without one. Raises CorruptGenerationError if it is damaged."""
    current = generations.current()
    if current:
        generations.expect_whole(current)
    return current


def _sound(generations: Generations) -> Generation | None:
    """The current generation; None if there is none, or if it is damaged."""
    try:
        current = generations.current()
    except CorruptGenerationError:
        return None
    return None if current is None or generations.verify(current, deep=True) else current


def _few(previous: Generation | None) -> int:
    """The most passages that the transformer encodes at once: the table would encode all that there are, too."""
    return FEW + (Manifest.of(previous).passages // QUICKER if previous else 0)


def _keep_better(home: Home, improved: _Improved) -> None:
    """Keep the transformer's vectors of a former generation for `qa-bot improve`; it can do without."""
    generation, encoder = improved
    try:
        with KeptVectors(home.vectors, encoder.fingerprint, encoder.dimension) as memory:
            keep_generation(memory, generation)
    except (OSError, ValueError, RuntimeError) as error:
        log.warning("The better vectors are not kept and will be made anew: %s", error)


def _begin(store: Store, generations: Generations, encoder: Encoder, *, repairing: bool) -> int:
    """Undo what a dead writer left, and return the number of a new generation."""
    published = _published(generations)
    number = store.begin(encoder.fingerprint, published=published)
    stored = store.generation()
    if (stored.number if stored else None) == published or (stored and repairing):
        return number
    store.roll_back(number)
    if stored is None:
        raise ChangeError(LOST.format(index=generations.root))
    raise ChangeError(
        f"Expected generation {stored.number} of the index in {generations.root}, as in the database, but got "
        f"{published or 'none'}; run `qa-bot repair`."
    )


def _manifest(generations: Generations) -> Mapping[str, Any]:
    """The manifest of the current generation; empty if there is none, or if it is damaged."""
    try:
        current = generations.current()
    except CorruptGenerationError:
        return {}
    return current.manifest if current else {}


def _published(generations: Generations) -> int | None:
    """The current generation; if `CURRENT` is unreadable, the newest one, which readers most likely used."""
    try:
        return generations.current_number()
    except CorruptGenerationError:
        return generations.newest() or None


def _indexed(new: NewDocument, keys: InsertedDocument, collection: str) -> IndexedDocument:
    passages = tuple(
        IndexedPassage(key, p.text, p.place, p.units) for key, p in zip(keys.passages, new.passages, strict=True)
    )
    return IndexedDocument(
        keys.document, new.external_id, new.title, new.body, new.url, collection, passages, new.details
    )


def _stored(row: StoredDocument) -> IndexedDocument:
    """A document as stored; the sentences of passages are their units if version 0.1 cut them."""
    is_old = not any(passage.units for passage in row.passages)
    passages = tuple(
        IndexedPassage(of.key, of.text, of.place, tuple(sentences(of.text)) if is_old else of.units)
        for of in row.passages
    )
    details = row.details
    if not details.language:  # a document of version 0.1, or one that does not decide
        text = "\n".join(passage.text for passage in row.passages[:MOST_READ])
        details = replace(details, language=language_of(f"{row.title}\n{row.body}\n{text}"))
    return IndexedDocument(row.key, row.external_id, row.title, row.body, row.url, row.collection, passages, details)
