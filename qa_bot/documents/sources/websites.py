"""Websites as sources: their pages are visited before the home is locked, then stored like the files of a folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from qa_bot.documents.index_update import ChangeError
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.records import Item, Notice, Reject
from qa_bot.documents.sources.listing import FileState
from qa_bot.documents.sources.plan import NOTHING_LEFT, STALE, WHOLE, SyncPlan, Visiting
from qa_bot.documents.sources.registry import Registry
from qa_bot.documents.sources.source_run import FileResult, SourceRun
from qa_bot.documents.sources.synchronise import settings_of
from qa_bot.documents.websites.site import read_site
from qa_bot.documents.websites.urls import URL, document_id, parse_url
from qa_bot.documents.websites.visits import PageState, PageVisit, SiteEnd, SiteOptions
from qa_bot.home.config import Config
from qa_bot.home.store import Source, SourceFile, Store, with_deleted
from qa_core.counted import counted

KIND = "website"
NO_PAGES = (
    "Expected the pages that {place} had before, but got none of them, only others such as {url}; nothing was deleted: "
    "check the address, or, if they are really gone, sync with --allow-empty or use `qa-bot sources remove`."
)
KEPT = (
    "no link led to {pages} of before, which the server still has or did not show; their documents stay (`sync "
    "--allow-empty` removes them)."
)


@dataclass(frozen=True, slots=True)
class VisitedSite:
    """A website whose pages were visited; `options` are fields of `SiteOptions` that are not the defaults."""

    place: str
    options: Mapping[str, Any]
    visits: tuple[PageVisit, ...]
    end: SiteEnd

    @property
    def error(self) -> str:
        """Why nothing is known of the site: its first page failed, or there was no time for it."""
        if not self.visits:
            return f"Expected a page, but {self.end.message}."
        first = self.visits[0]
        if first.outcome in {"read", "unchanged"}:
            return ""
        return next((item.reason for item in first.items if isinstance(item, Reject)), "")


@dataclass(slots=True)
class WebsiteRun(SourceRun):
    """A website that was visited, compared with its last synchronisation; its pages are the files."""

    site: VisitedSite = field(kw_only=True)
    _pages: dict[str, PageVisit] = field(default_factory=dict)
    _uncertain: list[str] = field(default_factory=list)

    def compare(self, *, completing: bool, removing: bool, allow_empty: bool = False) -> None:
        """Plan what to store and remove; pages are gone only if the server says so, or the whole site was visited.

        If all earlier pages would go, none does: a login page answers for all pages of a wiki, with status 200.
        """
        self.rows = self.store.files(self.source.id)
        is_gone = bool(self.site.visits) and self.site.visits[0].outcome == "gone"
        if is_gone and not self.rows and not completing:
            self.plan = SyncPlan(problems=[Notice(self.source.place, NOTHING_LEFT)])
            return
        if self.site.error and not (is_gone and allow_empty):
            self.plan = SyncPlan(error=f"{self.site.error} Nothing was deleted.")
            return
        self.plan = SyncPlan()
        visited = {document_id(visit.url): visit for visit in self.site.visits}
        for path, visit in visited.items():
            self._compare_page(path, visit)
        if self.site.end.is_complete or is_gone:
            self.plan.deleted += [path for path in self.rows if path not in visited]
        if self.site.end.message:
            self.plan.problems.append(Notice(self.source.place, f"{self.site.end.message}."))
        self._find_moves()
        self._note_kept()
        if removing and not allow_empty and self.rows and len(self.plan.deleted) == len(self.rows):
            self.plan = SyncPlan(error=NO_PAGES.format(place=self.source.place, url=self.site.visits[0].url))
            return
        self._note_plan(completing=completing)

    def row(self, path: str, documents: int) -> SourceFile:
        """What is stored of a page that was read."""
        result, state = self.results[path], self._pages[path].state
        values = with_deleted(state.as_json() if state else {}, self.deleted(path))
        return SourceFile(path, result.stem, 0, 0, result.hash, self.settings, result.outcome, documents, values)

    def _compare_page(self, path: str, visit: PageVisit) -> None:
        plan, row = self.plan, self.rows.get(path)
        if visit.outcome == "failed":
            plan.problems += [item for item in visit.items if isinstance(item, Reject)]
        elif visit.outcome == "gone":
            plan.deleted += [path] if row else []
        elif visit.outcome == "kept":
            self._uncertain += [path] if row else []
        elif visit.outcome == "unchanged" and row and visit.state:
            plan.unchanged += 1
            plan.documents += row.documents
            plan.touched.append(row._replace(state=with_deleted(visit.state.as_json(), row.deleted)))
        elif visit.state:
            is_same = row is not None and row.hash == visit.state.hash
            (plan.new if row is None else plan.again if is_same else plan.changed).append(path)
            plan.states[path] = FileState(path, str(visit.url), 0, 0)
            self._pages[path] = visit

    def _find_moves(self) -> None:
        """Pair new pages with gone ones that redirect to them or had the same content, or with such that no link leads
        to."""
        plan = self.plan
        redirected = {document_id(one.moved_to): document_id(one.url) for one in self.site.visits if one.moved_to}
        gone = {self.rows[path].hash: path for path in [*self._uncertain, *plan.deleted] if self.rows[path].hash}
        for path in list(plan.new):
            state = self._pages[path].state
            before = redirected.get(path) or (gone.get(state.hash) if state else None)
            if before in plan.deleted or before in self._uncertain:
                plan.new.remove(path)
                (plan.deleted if before in plan.deleted else self._uncertain).remove(before)
                plan.moved.append((before, path))

    def _note_kept(self) -> None:
        """Count the pages that no link leads to as unchanged, and say so."""
        self.plan.unchanged += len(self._uncertain)
        self.plan.documents += sum(self.rows[path].documents for path in self._uncertain)
        if self._uncertain:
            notice = KEPT.format(pages=counted(len(self._uncertain), "page"))
            self.plan.problems.append(Notice(self.source.place, notice))

    def _digest(self, state: FileState) -> str:
        page = self._pages[state.path].state
        return page.hash if page else ""

    def _records(self, result: FileResult, budget: ByteBudget) -> Iterator[Item]:  # noqa: ARG002  # they were read
        yield from self._pages[result.state.path].items


def visit_new(
    store: Store,
    config: Config,
    urls: Iterable[str],
    options: Mapping[str, Any],
    visiting: Visiting,
    *,
    collection: str | None,
) -> list[VisitedSite]:
    """Visit sites that are added, or added again; the arguments are those of `sync.add`.

    Raises:
        ChangeError: an address cannot be used, or the first page of a new site cannot be read.
    """
    sites = []
    for url in dict.fromkeys(urls):
        try:
            place = str(parse_url(url))
        except ValueError as error:
            raise ChangeError(str(error)) from None
        source = _at(store, place, collection)
        chosen = {**(source.options.get("site", {}) if source else {}), **options}
        site = _visit(store, config, place, source, chosen, visiting, completing=True)
        if site.error and source is None:
            raise ChangeError(f"{place}: {site.error}")
        sites.append(site)
    return sites


def visit_known(store: Store, config: Config, sources: Iterable[Source], visiting: Visiting) -> dict[int, VisitedSite]:
    """Visit the websites among some sources, by key."""
    return {
        source.id: _visit(
            store, config, source.place, source, source.options.get("site", {}), visiting, completing=False
        )
        for source in sources
        if source.kind == KIND
    }


def website_run(registry: Registry, site: VisitedSite, collection: str | None) -> WebsiteRun:
    """The run of a visited site, whose source is made if there is none at its place."""
    source = _at(registry.store, site.place, collection)
    is_new = source is None
    options = {"site": dict(site.options)}
    if source is None:
        used = {other.name for other in registry.sources}
        name = next(name for name in _names(URL(site.place)) if name not in used)
        source = registry.new_source(name, KIND, site.place, collection or "default", options)
        _absorb(registry, source, site)
        registry.store_later(source)
    else:
        _absorb(registry, source, site)
        if source.options.get("site") != options["site"]:
            source = replace(source, options={**source.options, **options})
            registry.store_later(source)
    run = _run_of(registry, source, site, completing=True)
    run.is_new = is_new
    return run


def known_runs(registry: Registry, sites: Mapping[int, VisitedSite]) -> Iterator[WebsiteRun]:
    """The runs of visited sites, by the keys of their sources, but those that another one takes over."""
    for source in registry.sources:
        if source.id in sites:
            _absorb(registry, source, sites[source.id])
    return (
        _run_of(registry, source, sites[source.id], completing=False)
        for source in registry.sources
        if source.id in sites
    )


def _absorb(registry: Registry, source: Source, site: VisitedSite) -> None:
    """Have a site take over the other sources of which it has all pages, unless another site has taken it over."""
    visited = {document_id(visit.url) for visit in site.visits}
    store, inner = registry.store.sources, list[Source]()
    known = {one.id: one for one in store.all() if one.kind == KIND and one.collection == source.collection}
    is_new = source.id >= store.next_key()
    if registry.update and site.options.get("crawl") and (is_new or source.id in known):
        known.pop(source.id, None)
        inner = [one for one in known.values() if (pages := store.files(one.id)) and visited.issuperset(pages)]
    if inner and is_new:  # stored at once, because it takes over rows that are compared next
        store.create(source)
    for one in inner:
        store.absorb(one.id, source.id, "")


def _run_of(registry: Registry, source: Source, site: VisitedSite, *, completing: bool) -> WebsiteRun:
    """The run of a visited site, compared with its source."""
    run = WebsiteRun(registry.store.sources, source, settings_of(source, registry.passages), site=site)
    run.compare(completing=completing, removing=registry.removing, allow_empty=registry.allow_empty)
    return run


def _at(store: Store, place: str, collection: str | None) -> Source | None:
    """The website at a place; without a collection, that of `default` is preferred."""
    sources = [
        source
        for source in store.sources.all()
        if source.kind == KIND and source.place == place and collection in (None, source.collection)
    ]
    return min(sources, key=lambda source: source.collection != "default", default=None)


def _names(url: URL) -> Iterator[str]:
    """Names for the source of a site: `docs.example.org/guide`, then numbered ones."""
    name = document_id(url).rstrip("/")
    return chain([name], (f"{name}-{number}" for number in count(2)))


def _visit(
    store: Store,
    config: Config,
    place: str,
    source: Source | None,
    options: Mapping[str, Any],
    visiting: Visiting,
    *,
    completing: bool,
) -> VisitedSite:
    """Visit a site; with a `source`, it was visited before, and its pages are doubted before they go."""
    previous: Mapping[str, PageState] = {}
    doubted: Collection[str] = ()
    if source:
        previous = _page_states(store, source, config, completing=completing, removing=visiting.removing)
        is_doubtful = visiting.removing and not visiting.allow_empty
        doubted = store.sources.files(source.id).keys() if is_doubtful else ()
    visits: list[PageVisit] = []
    end = SiteEnd(is_complete=False)
    chosen = SiteOptions(**options, limits=visiting.limits)
    for visit in read_site(place, chosen, config.web, previous=previous, doubted=doubted):
        if isinstance(visit, SiteEnd):
            end = visit
        else:
            visits.append(visit)
            visiting.pages(len(visits))
    return VisitedSite(place, options, tuple(visits), end)


def _page_states(
    store: Store, source: Source, config: Config, *, completing: bool, removing: bool
) -> dict[str, PageState]:
    """What is remembered of those pages that need not be read again if they are unchanged.

    The last arguments are those of `SourceRun.compare`.
    """
    settings = settings_of(source, config.passages)
    held = store.sources.documents_by_file(source.id) if completing else {}
    return {
        path: PageState.from_json(row.state)
        for path, row in store.sources.files(source.id).items()
        if row.state
        and row.settings == settings
        and (row.outcome == WHOLE or (row.outcome == STALE and not removing))
        and not (completing and (row.deleted or held.get(path, 0) < row.documents))
    }
