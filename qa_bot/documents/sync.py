"""Every verb that changes the documents of a home: add, delete, switch the encoder, rebuild."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from qa_bot.documents import graph
from qa_bot.documents.index_update import ChangeError, IndexUpdate, index_update
from qa_bot.documents.ingest.detect import FORMATS
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Record
from qa_bot.documents.record_sync import CUTTING, Progress, RecordSync
from qa_bot.documents.reject_log import AddReport, RejectLog, reject_log
from qa_bot.documents.seen_files import SeenFiles, signature
from qa_bot.home import starter
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.store import Store
from qa_core.types import Encoder

LARGE_FILE = 1_000_000
"""Bytes; reading a smaller file again is as fast as looking it up."""


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

    If the index was made with another encoder, everything is encoded again.

    Raises:
        FileNotFoundError: a path does not exist; nothing was changed.
        ChangeError: the format is unknown.
        WriterBusyError: another process is writing.
    """
    _expect_input(paths, format)
    budget = ByteBudget(limits or Limits())
    with ExitStack() as stack:
        log = stack.enter_context(reject_log(None if dry_run else home))
        update: IndexUpdate | None = None
        if dry_run:
            store = stack.enter_context(Store.open(home.store_url(config)))
            current = Generations(home.index).current()
            seen_files = SeenFiles.of(current.manifest if current else {})
        else:
            update = stack.enter_context(index_update(home, config, encoder, action="add"))
            update.touched = update.touched or update.writer.must_reencode
            store, seen_files = update.store, update.seen_files
        run = RecordSync(store, update, seen_files, collection, config.passages, log, progress)
        settings = (collection, format, budget.limits, CUTTING, config.passages)
        for group, file_signature in _grouped(paths, settings):
            items = (item for path in group for item in read(path, format=format, budget=budget))
            run.run(items, file_signature)
    return log.counts


def add_records(
    home: Home, config: Config, encoder: Encoder, records: Iterable[Record], *, collection: str, action: str = "add"
) -> AddReport:
    """Add or update documents that come from no file.

    Raises:
        ChangeError: the index was made with another encoder, so everything would be encoded again.
        WriterBusyError: another process is writing.
    """
    with reject_log(None) as log, index_update(home, config, encoder, action=action) as update:
        if update.writer.must_reencode:
            raise ChangeError(
                f"Expected an index made with the encoder {config.dense.encoder}, but got another's; run "
                f"`qa-bot use {config.dense.encoder}` first."
            )
        RecordSync(update.store, update, update.seen_files, collection, config.passages, log).run(records)
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
    """Add or update the documents of several collections, by name, in one generation; `log` counts all of them.

    Raises:
        WriterBusyError: another process is writing. With `action` None the caller holds the lock.
    """
    with index_update(home, config, encoder, action=action) as update:
        update.touched = update.touched or update.writer.must_reencode
        for name, items in collections:
            RecordSync(update.store, update, update.seen_files, name, config.passages, log, progress).run(items)


def delete(
    home: Home, config: Config, encoder: Encoder, *, ids: Sequence[str] = (), collection: str | None = None
) -> tuple[int, list[str]]:
    """Remove documents everywhere: the number removed, and the ids that were not found.

    With the starter collection the facts of the starter graph are removed, too.
    """
    if collection == starter.NAME:
        graph.remove(home, namespace=starter.NAMESPACE)
    with index_update(home, config, encoder, action="delete") as update:
        if collection is not None:
            return update.retire(update.store.of_collection(collection)), []
        matches = update.store.find(ids)
        keys = sorted(key for document_keys in matches.values() for key in document_keys)
        return update.retire(keys), [id_ for id_ in ids if id_ not in matches]


def switch_encoder(home: Home, config: Config, encoder: Encoder, *, name: str) -> None:
    """Encode everything again with another encoder beside the running index, then swap."""
    with index_update(home, config, encoder, action="use", encoder_name=name) as update:
        update.touched = True


def repair(home: Home, config: Config, encoder: Encoder, *, progress: Callable[[int], None] = lambda _: None) -> int:
    """Rebuild the index from the store, and return the number of documents."""
    with index_update(home, config, encoder, action="repair", from_nothing=True) as update:
        return update.rebuild(progress)


def _grouped(paths: Iterable[Path], settings: tuple[object, ...]) -> Iterator[tuple[list[Path], str | None]]:
    """Each large file alone, with its signature; the paths between them in groups without one."""
    small: list[Path] = []
    for path in paths:
        if path.is_file() and path.stat().st_size >= LARGE_FILE:
            yield small, None
            yield [path], signature(path, *settings)
            small = []
        else:
            small.append(path)
    yield small, None


def _expect_input(paths: Iterable[Path], format_: str | None) -> None:
    for path in paths:
        if not path.exists() and not path.is_symlink():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist.")
    if format_ is not None and format_ not in FORMATS:
        raise ChangeError(f"Expected one of the formats {', '.join(FORMATS)}, but got {format_!r}.")
