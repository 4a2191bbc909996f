"""Every verb that changes the documents of a home: add, synchronise, delete, switch the encoder, rebuild."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from qa_bot.documents import graph
from qa_bot.documents.garbage import rare_collections
from qa_bot.documents.index_update import ChangeError, IndexUpdate, index_update
from qa_bot.documents.ingest.detect import FORMATS
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Limits, Record
from qa_bot.documents.record_sync import Progress, RecordSync, SourceItem
from qa_bot.documents.reject_log import AddReport, RejectLog, reject_log
from qa_bot.documents.sources.places import FILE_KINDS, UPLOAD, holder, kind_of, resolve
from qa_bot.documents.sources.plan import Visiting
from qa_bot.documents.sources.registry import Registry
from qa_bot.documents.sources.synchronise import Synchronisation
from qa_bot.documents.sources.watching import Watcher
from qa_bot.home import starter
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations.commit import Switch
from qa_bot.home.store import Source, SourceInfo, Store
from qa_core.types import Encoder

if TYPE_CHECKING:
    from qa_bot.documents.read_ahead.ahead import ReadAhead
    from qa_bot.documents.sources.source_run import SourceRun
    from qa_bot.documents.sources.websites import VisitedSite


def add(
    home: Home,
    config: Config,
    encoder: Encoder,
    paths: Sequence[Path],
    *,
    collection: str | None = None,
    format: str | None = None,  # noqa: A002 (the flag's own name)
    limits: Limits | None = None,
    dry_run: bool = False,
    removing: bool = False,
    allow_empty: bool = False,
    as_sources: bool = True,
    progress: Progress = lambda _: None,
    urls: Sequence[str] = (),
    site: Mapping[str, Any] | None = None,
    pages: Callable[[int], None] = lambda _: None,
    facts: Sequence[Path] = (),
    ahead: ReadAhead | None = None,
) -> AddReport:
    """Add or update the documents of files, folders and websites, which become sources; unchanged ones are not read.

    If the index was made with another encoder, everything is encoded again.

    Args:
        collection: of new sources, `default` if it is not given; a path in a source belongs to that source's.
        removing: also remove the documents of files that are gone.
        allow_empty: with `removing`, an empty folder means that its files were deleted.
        as_sources: remember what was added, so that it can be kept in step.
        urls: pages and sites to add, too. They are visited before the home is locked.
        site: fields of `SiteOptions` for all of them; others are those of the source.
        pages: called with the number of visited pages.
        facts: files of triples that become part of the graph in the same commit.
        ahead: what `first_reading` reads of the first source.

    Raises:
        FileNotFoundError: a path does not exist; nothing was changed.
        ChangeError: the format is unknown, or the first page of a site cannot be read.
        WriterBusyError: another process is writing.
    """
    _expect_input(() if removing and allow_empty else paths, format)
    budget = ByteBudget(limits or Limits())
    visiting = Visiting(budget.limits, pages, removing, allow_empty)
    sites = _newly_visited(home, config, urls, site or {}, visiting, collection)
    with _changing(home, config, encoder, "add", dry_run=dry_run) as (store, update, log):
        if facts and update:
            graph.add(home, facts, action=None, switches=update.switches)
        if not as_sources:
            run = RecordSync(store, update, collection or "default", config.passages, log, progress)
            run.run(item for path in paths for item in read(path, format=format, budget=budget))
            return log.counts
        registry = Registry(store, config.passages, update, removing, allow_empty)
        _expect_input((path for path in paths if not holder(resolve(path), registry.sources, collection)), None)
        runs = list(registry.runs(paths, collection=collection, format_=format))
        runs += _new_website_runs(registry, sites, collection)
        Synchronisation(store, update, config.passages, log, progress, budget, removing, ahead).run(runs)
    return log.counts


def _newly_visited(
    home: Home,
    config: Config,
    urls: Sequence[str],
    site: Mapping[str, Any],
    visiting: Visiting,
    collection: str | None,
) -> list[VisitedSite]:
    """The pages and sites at URLs, visited before the home is locked."""
    if not urls:
        return []
    from qa_bot.documents.sources.websites import visit_new  # late: it imports aiohttp

    with Store.open(home.store_url(config)) as store:
        return visit_new(store, config, urls, site, visiting, collection=collection)


def _new_website_runs(registry: Registry, sites: Iterable[VisitedSite], collection: str | None) -> Iterator[SourceRun]:
    for visited in sites:
        from qa_bot.documents.sources.websites import website_run

        yield website_run(registry, visited, collection)


def synchronise(
    home: Home,
    config: Config,
    encoder: Encoder,
    names: Sequence[str] = (),
    *,
    limits: Limits | None = None,
    dry_run: bool = False,
    allow_empty: bool = False,
    progress: Progress = lambda _: None,
    pages: Callable[[int], None] = lambda _: None,
) -> AddReport:
    """Bring documents in step with some sources, or with all, in one generation: also what was moved or deleted.

    A source that is unreachable or suddenly empty is not changed, with an error in the report, unless `allow_empty`.

    Args:
        dry_run: nothing is changed; the report says what would be.
        pages: called with the number of visited pages of a website.

    Raises:
        ChangeError: there is no source of that name, or it is an upload.
        WriterBusyError: another process is writing.
    """
    limits = limits or Limits()
    sites = _visited(home, config, names, Visiting(limits, pages, allow_empty=allow_empty))
    with _changing(home, config, encoder, "sync", dry_run=dry_run) as (store, update, log):
        registry = Registry(store, config.passages, update, removing=True, allow_empty=allow_empty)
        chosen = chosen_sources(store, names)
        _expect_places(chosen if names else ())
        runs = [registry.of_source(source) for source in chosen if source.kind in FILE_KINDS]
        runs += _known_website_runs(registry, sites)
        Synchronisation(store, update, config.passages, log, progress, ByteBudget(limits), removing=True).run(runs)
    return log.counts


def _visited(home: Home, config: Config, names: Sequence[str], visiting: Visiting) -> dict[int, VisitedSite]:
    """The websites among the chosen sources, visited before the home is locked."""
    with Store.open(home.store_url(config)) as store:
        websites = [source for source in chosen_sources(store, names) if source.kind == "website"]
        if not websites:
            return {}
        from qa_bot.documents.sources.websites import visit_known

        return visit_known(store, config, websites, visiting)


def _known_website_runs(registry: Registry, sites: Mapping[int, VisitedSite]) -> Iterator[SourceRun]:
    if sites:
        from qa_bot.documents.sources.websites import known_runs

        yield from known_runs(registry, sites)


def chosen_sources(store: Store, names: Sequence[str] = ()) -> list[Source]:
    """The sources of these names or places, or all; raises ChangeError for an unknown name."""
    known = store.sources.all()
    chosen = []
    for name in names:
        place = name if "://" in name else str(resolve(Path(name)))
        match = next((source for source in known if name == source.name or source.place in (name, place)), None)
        if match is None:
            listed = ", ".join(source.name for source in known) or "none"
            held = None if "://" in name else holder(Path(place), known, None)
            hint = (
                f"; it is in {held[0].name}: use that, or `qa-bot add --sync` while the file is there" if held else ""
            )
            raise ChangeError(f"Expected the name or place of a source, but got {name!r}{hint}; there is: {listed}.")
        chosen.append(match)
    return chosen if names else known


def list_sources(home: Home, config: Config) -> list[SourceInfo]:
    """All sources with their counts."""
    with Store.open(home.store_url(config)) as store:
        return store.sources.infos()


def source_info(home: Home, config: Config, name: str) -> SourceInfo:
    """A source by its name or place, with its counts. Raises ChangeError if it is unknown."""
    with Store.open(home.store_url(config)) as store:
        (source,) = chosen_sources(store, [name])
        return next(info for info in store.sources.infos() if info.source.id == source.id)


def rename_source(home: Home, config: Config, old: str, new: str) -> None:
    """Give a source another name; ids of documents stay. Raises ChangeError if the new name is taken or empty."""
    with home.lock("sources"), Store.open(home.store_url(config)) as store:
        (source,) = chosen_sources(store, [old])
        if not new.strip() or any(other.name == new for other in store.sources.all()):
            raise ChangeError(f"Expected a new name for the source {old}, but got {new!r}, which is taken or empty.")
        store.sources.change(source.id, name=new, options={**source.options, "first_name": source.first_name})


def move_source(home: Home, config: Config, name: str, place: Path) -> None:
    """Tell where the files of a source are now, such as in an imported home; the next sync compares them there.

    Raises:
        FileNotFoundError: there is nothing at `place`.
        ChangeError: the source is unknown or has no path, is another kind of thing, or another source is at `place`.
    """
    _expect_input([place], None)
    place = resolve(place)
    with home.lock("sources"), Store.open(home.store_url(config)) as store:
        (source,) = chosen_sources(store, [name])
        if source.kind not in FILE_KINDS or kind_of(place) != source.kind:
            raise ChangeError(f"Expected another place for the {source.kind} {name}, but got {place}.")
        others = (other for other in store.sources.all() if other.id != source.id)
        if any((other.place, other.collection) == (str(place), source.collection) for other in others):
            raise ChangeError(f"Expected a place without a source, but got {place}; remove that source first.")
        store.sources.change(source.id, place=str(place), error="")


def remove_source(home: Home, config: Config, encoder: Encoder, name: str) -> int:
    """Remove a source and its documents; the number of documents. Raises ChangeError if it is unknown."""
    with index_update(home, config, encoder, action="sources") as update:
        (source,) = chosen_sources(update.store, [name])
        removed = update.retire(update.store.sources.of_source(source.id))
        update.records.append(lambda: update.store.sources.remove(source.id))
    return removed


def watcher_of(
    home: Home, opened: Callable[[], tuple[Config, Encoder]], names: Sequence[str] = (), *, stop: Event | None = None
) -> Watcher:
    """What keeps some sources of a home in step, or all.

    Args:
        opened: the present configuration and encoder.
        stop: ends the watching.

    Raises:
        ChangeError: there is no source of that name.
    """

    def listed() -> list[Source]:
        with Store.open(home.store_url(opened()[0])) as store:
            return chosen_sources(store, names)

    listed()
    return Watcher(listed, lambda changed: synchronise(home, *opened(), changed), home.path, stop or Event())


@contextmanager
def _changing(
    home: Home, config: Config, encoder: Encoder, action: str, *, dry_run: bool
) -> Iterator[tuple[Store, IndexUpdate | None, RejectLog]]:
    """The store, the update, which is None in a dry run, and a log of rejects."""
    with ExitStack() as stack:
        stack.enter_context(rare_collections())
        log = stack.enter_context(reject_log(None if dry_run else home))
        if dry_run:
            yield stack.enter_context(Store.open(home.store_url(config))), None, log
            return
        update = stack.enter_context(index_update(home, config, encoder, action=action))
        update.touched = update.touched or update.writer.must_reencode
        yield update.store, update, log


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
        RecordSync(update.store, update, collection, config.passages, log).run(records)
    return log.counts


def join(
    home: Home,
    config: Config,
    encoder: Encoder,
    collections: Iterable[tuple[str, Iterable[SourceItem]]],
    log: RejectLog,
    *,
    action: str | None = "import",
    progress: Progress = lambda _: None,
    begin: Callable[[list[Switch]], None] = lambda _: None,
    finish: Callable[[Store], None] = lambda _: None,
) -> None:
    """Add or update the documents of several collections, by name, in one generation; `log` counts all of them.

    A document of a source that is replaced by one of none stays that source's, whose file is read again by a sync.

    Args:
        begin: called first with a list for further generations that become current in the same commit.
        finish: called with the store in the transaction that commits.

    Raises:
        WriterBusyError: another process is writing. With `action` None the caller holds the lock.
    """
    with index_update(home, config, encoder, action=action) as update:
        begin(update.switches)
        update.touched = update.touched or update.writer.must_reencode
        for name, items in collections:
            run = RecordSync(update.store, update, name, config.passages, log, progress)
            run.run(items)
            for owner, keys in run.claims.items():
                update.records.append(partial(update.store.sources.claim, owner.source, owner.file, keys))
            for source, file in run.replaced:
                update.records.append(partial(update.store.sources.mark_stale, source, file))
        update.records.append(partial(finish, update.store))


def delete(
    home: Home, config: Config, encoder: Encoder, *, ids: Sequence[str] = (), collection: str | None = None
) -> tuple[int, list[str]]:
    """Remove documents everywhere: the number removed, and the ids that were not found.

    With the starter collection the facts of the starter graph are removed, too, and with the last document of uploads
    their source.
    """
    with index_update(home, config, encoder, action="delete") as update:
        if collection == starter.NAME:
            graph.remove(home, namespace=starter.NAMESPACE, action=None, switches=update.switches)
        if collection is not None:
            for source in update.store.sources.all():
                if source.collection == collection:
                    update.records.append(partial(update.store.sources.remove, source.id))
            return update.retire(update.store.of_collection(collection)), []
        matches = update.store.find(ids)
        keys = sorted(key for document_keys in matches.values() for key in document_keys)
        update.records.append(partial(update.store.sources.note_deleted, keys))
        update.records.append(partial(update.store.sources.remove_empty, UPLOAD))
        return update.retire(keys), [id_ for id_ in ids if id_ not in matches]


def switch_encoder(
    home: Home, config: Config, encoder: Encoder, *, name: str, settings: Mapping[str, str] | None = None
) -> None:
    """Encode everything again with another encoder beside the running index, then swap it and the settings as one."""
    with index_update(home, config, encoder, action="use", encoder_name=name, settings=settings) as update:
        update.touched = True


def repair(home: Home, config: Config, encoder: Encoder, *, progress: Callable[[int], None] = lambda _: None) -> int:
    """Rebuild the index from the store, and return the number of documents."""
    with index_update(home, config, encoder, action="repair", from_nothing=True) as update:
        return update.rebuild(progress)


def _expect_places(sources: Iterable[Source]) -> None:
    for source in sources:
        if source.kind == UPLOAD:
            raise ChangeError(
                f"Expected a source with a place to compare, but got {source.name}, whose files were uploaded; upload "
                "them again to replace their documents, or remove some with `qa-bot delete`."
            )


def _expect_input(paths: Iterable[Path], format_: str | None) -> None:
    for path in paths:
        if not path.exists() and not path.is_symlink():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist.")
        if path.exists() and not (path.is_dir() or path.is_file()):
            raise ChangeError(f"Expected a file or a folder, but got {path}, which is neither.")
    if format_ is not None and format_ not in FORMATS:
        raise ChangeError(f"Expected one of the formats {', '.join(FORMATS)}, but got {format_!r}.")
