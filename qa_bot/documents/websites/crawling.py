"""Reads one page, or a site page by page: robots.txt, sitemaps, links, canonical addresses, feeds, within limits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from qa_bot.documents.ingest.records import Item, Notice, Record, Reject
from qa_bot.documents.websites.feeds import Entry, entries
from qa_bot.documents.websites.fetching.client import OK, Reply
from qa_bot.documents.websites.fetching.errors import FetchError, LeftSiteError, SiteLimitError
from qa_bot.documents.websites.fetching.visitor import Admit, Clock, Request, Visitor
from qa_bot.documents.websites.frontier import WAITING, Frontier
from qa_bot.documents.websites.page_links import PageTags, page_tags
from qa_bot.documents.websites.page_records import Page, entry_items, page_items
from qa_bot.documents.websites.robots import Robots, RobotsError
from qa_bot.documents.websites.sitemaps import sitemap_pages
from qa_bot.documents.websites.urls import URL, Scope, UrlError, document_id, parse_url
from qa_bot.documents.websites.visits import Outcome, PageState, PageVisit, SiteEnd, SiteOptions
from qa_core.counted import counted

NOT_MODIFIED, GONE = 304, frozenset({404, 410})


def crawl(
    start: URL,
    options: SiteOptions,
    request: Request,
    *,
    previous: Mapping[str, PageState] | None = None,
    doubted: Collection[str] = (),
    clock: Clock | None = None,
) -> Iterator[PageVisit | SiteEnd]:
    """Visit the start and, if the options say so, its site; the last item is a `SiteEnd`.

    Args:
        start: the first page; with `crawl` the site is what is below its path.
        options: limits and pace.
        request: sends one request.
        previous: the states of the last sync, by the pages' `document_id`s; unchanged pages are not read again.
        doubted: `document_id`s of earlier pages. Those that no link leads to are requested at the end of a crawl, and
            are `gone` or `kept`: a login page in place of the first page has no links either.
        clock: replaces the real time.
    """
    return _Crawl(start, options, request, previous or {}, doubted, clock or Clock()).run()


class _Crawl:
    """One crawl, page after page."""

    def __init__(
        self,
        start: URL,
        options: SiteOptions,
        request: Request,
        previous: Mapping[str, PageState],
        doubted: Collection[str],
        clock: Clock,
    ) -> None:
        self._start, self._options, self._previous, self._doubted = start, options, previous, doubted
        self._visitor = Visitor(request, 1 / options.rate, options.bytes, options.seconds, clock)
        self._robots = Robots(self._visitor)
        self._frontier = Frontier(Scope(start), options.depth)
        self._ids: set[str] = set()  # of documents
        self._dates: dict[str, str] = {}  # id of a document → date of its entry in a feed
        self._sitemaps: list[URL] = []  # that the server did not send
        self._forbidden = 0
        self._visits = 0
        self._unasked = 0  # earlier pages that the limit on pages leaves out

    def run(self) -> Iterator[PageVisit | SiteEnd]:
        try:
            first = self._first()
            yield first
            if first.outcome in {"gone", "failed"}:
                yield SiteEnd(is_complete=False)
                return
            if self._options.crawl:
                start = self._frontier.scope.start
                self._frontier.add(sitemap_pages(start, self._robots, self._visitor, self._sitemaps.append), 1)
                reached = {document_id(first.url)}
                for visit in self._others():
                    reached.add(document_id(visit.url))
                    yield visit
                if not reached.isdisjoint(self._doubted):
                    yield from self._unlinked(reached, first.url)
            yield self._end()
        except SiteLimitError as error:
            yield SiteEnd(
                is_complete=False, message=f"visited: {counted(self._visits, 'page')}; others may be missing: {error}"
            )

    def _end(self) -> SiteEnd:
        frontier, is_crawl = self._frontier, self._options.crawl
        waiting = (len(frontier) + self._unasked) * is_crawl
        parts = [f"not read: {counted(waiting, 'more page')}; raise --max-pages"] * bool(waiting)
        if frontier.deep:
            parts.append(f"not read: {counted(frontier.deep, 'page')} behind more links; raise --max-depth")
        if frontier.crowded:
            parts.append(f"not read: {counted(frontier.crowded, 'page')}, because {WAITING:,} others waited")
        is_complete = not (parts or self._sitemaps)
        if self._sitemaps:
            parts.append(f"{self._sitemaps[0]} cannot be read now, so pages that only it lists are missing")
        if self._forbidden:
            parts.append(f"robots.txt forbids {counted(self._forbidden, 'page')}")
        if frontier.trapped:
            parts.append(f"{frontier.trapped:,} addresses that differ only behind the question mark are left out")
        return SiteEnd(is_complete, "; ".join(parts))

    def _others(self) -> Iterator[PageVisit]:
        while self._frontier and self._visits < self._options.pages:
            url, depth = self._frontier.next()
            if document_id(url) in self._ids:
                continue  # read through another address that names this one as canonical
            if (visit := self._visit(url, depth)) is not None:
                yield visit

    def _unlinked(self, reached: Collection[str], first: URL) -> Iterator[PageVisit]:
        """The earlier pages that were not reached: gone if the server says so, or if they lead to a page of the site.

        Several that lead to one page are kept, and those that lead to the first page: it may be a login page. Pages
        that robots.txt forbids, or that another address gave, are left out.
        """
        targets: dict[URL, URL | None] = {}
        for id_ in self._doubted:
            url = URL(f"{first.scheme}://{id_}", encoded=True)
            if id_ in reached or id_ in self._ids or not self._robots.allows(url):
                continue
            if self._visits < self._options.pages:
                targets[url] = self._target(url)
            else:
                self._unasked += 1
        shared = Counter(targets.values())
        for url, target in targets.items():
            has_moved = target not in {url, first} and shared[target] == 1 and document_id(target or url) in reached
            outcome: Outcome = "gone" if target is None or has_moved else "kept"
            yield PageVisit(url, outcome, moved_to=target if has_moved else None)

    def _target(self, url: URL) -> URL | None:
        """Where an earlier page is: at its own address, at another one of the site, or nowhere."""
        try:
            reply = self._fetch(url, lambda other: self._frontier.scope.holds(other) and self._robots.allows(other))
        except FetchError:
            return url
        return None if reply.status in GONE else self._frontier.scope.normalised(reply.url)

    def _first(self) -> PageVisit:
        def admit(url: URL) -> bool:
            self._robots.check(url)
            return True

        try:
            self._robots.check(self._start)
            reply = self._fetch(self._start, admit)
        except FetchError as error:
            return _failed(self._start, str(error))
        scope = Scope(self._start.with_scheme(reply.url.scheme) if self._start.is_default_port() else self._start)
        self._frontier = Frontier(scope if scope.holds(reply.url) else Scope(reply.url), self._options.depth)
        self._frontier.visit(self._start)
        self._frontier.visit(reply.url)
        return self._visit_of(reply, 0)

    def _visit(self, url: URL, depth: int) -> PageVisit | None:
        """The visit of a page; None if robots.txt forbids it, or it leads elsewhere or to a page visited before."""
        try:
            self._robots.check(url)
            reply = self._fetch(url, self._admit)
        except RobotsError:
            self._forbidden += 1
            return None
        except LeftSiteError:
            return None
        except FetchError as error:
            return self._failed_visit(url, str(error), depth)
        return self._visit_of(reply, depth)

    def _fetch(self, url: URL, admit: Admit) -> Reply:
        self._visits += 1
        return self._visitor.fetch(url, limit=self._options.limits.record_bytes, headers=self._headers, admit=admit)

    def _admit(self, url: URL) -> bool:
        return self._frontier.scope.holds(url) and self._robots.allows(url) and self._frontier.visit(url)

    def _headers(self, url: URL) -> Mapping[str, str]:
        state = self._state(url)
        return state.headers() if state else {}

    def _state(self, url: URL) -> PageState | None:
        return self._previous.get(document_id(self._frontier.scope.normalised(url)))

    def _visit_of(self, reply: Reply, depth: int) -> PageVisit:
        url = self._frontier.scope.normalised(reply.url)
        state = self._state(url)
        if reply.status == NOT_MODIFIED and state is not None:
            rules = page_tags("", url, robots_header=reply.headers.get("x-robots-tag", ""))
            return self._unchanged(url, state, depth) if rules.index else self._hidden(url, state, depth)
        if reply.status in GONE:
            reason = f"Expected a page, but got status {reply.status}; check the address."
            return PageVisit(url, "gone", items=() if depth else (Reject(str(url), reason),))
        if reply.status != OK:
            return self._failed_visit(url, _status_reason(reply.status), depth)
        page = Page.of(reply, url)
        if page.is_feed:
            return self._feed(page, depth)
        return self._page(page, reply, state, depth)

    def _unchanged(self, url: URL, state: PageState, depth: int) -> PageVisit:
        ids = tuple(id_ for id_ in state.ids if id_ not in self._ids)
        self._ids.update(ids)
        self._frontier.add(map(URL, state.links), depth + 1)
        return PageVisit(url, "unchanged", replace(state, ids=ids))

    def _failed_visit(self, url: URL, reason: str, depth: int) -> PageVisit:
        """A page that fails now leads to the pages that it led to before, so that they are not taken for gone."""
        state = self._state(url)
        self._frontier.add(map(URL, state.links if state else ()), depth + 1)
        return _failed(url, reason)

    def _hidden(self, url: URL, state: PageState, depth: int) -> PageVisit:
        """An unchanged page that must not be indexed any more; without validators, because the header may go again."""
        self._frontier.add(map(URL, state.links), depth + 1)
        return PageVisit(url, "read", PageState(links=state.links), _noindex_items(url, depth, state))

    def _page(self, page: Page, reply: Reply, before: PageState | None, depth: int) -> PageVisit:
        tags = page_tags(page.html or "", page.url, robots_header=reply.headers.get("x-robots-tag", ""))
        links = self._frontier.pages_among(tags.links)
        rule = b"" if tags.index else b"noindex"  # may come and go in a header, with the same body
        hash_ = hashlib.blake2b(reply.body, digest_size=16, person=rule).hexdigest()
        etag, modified = (reply.headers.get(name, "") if tags.index else "" for name in ("etag", "last-modified"))
        state = PageState(etag, modified, hash_, (), tuple(map(str, links)))
        self._frontier.add(tags.feeds, depth + 1, first=True)
        if before is not None and before.hash == hash_:
            return self._unchanged(page.url, replace(state, ids=before.ids), depth)
        self._frontier.add(links, depth + 1)
        items = self._items(page, tags) if tags.index else _noindex_items(page.url, depth, before)
        ids = tuple(item.id for item in items if isinstance(item, Record))
        self._ids.update(ids)
        return PageVisit(page.url, "read", replace(state, ids=ids), items)

    def _items(self, page: Page, tags: PageTags) -> tuple[Item, ...]:
        """The records of a page, unless it was read through another address."""
        address = self._canonical(page.url, tags)
        if document_id(address) in self._ids:
            return ()
        items = page_items(page, address, self._options.limits)
        return tuple(self._dated(item) if isinstance(item, Record) else item for item in items)

    def _dated(self, record: Record) -> Record:
        return replace(record, date=record.date or self._dates.get(record.id, ""))

    def _canonical(self, url: URL, tags: PageTags) -> URL:
        """The address that the page names, if it is a page of this site other than the site's front page."""
        scope = self._frontier.scope
        if tags.canonical is None or not scope.holds(tags.canonical):
            return url
        canonical = scope.normalised(tags.canonical)
        is_front = canonical.raw_path in {"/", scope.folder} and not canonical.raw_query_string
        # templates that name the front page on every page are a known mistake
        return url if is_front and url.raw_path != canonical.raw_path else canonical

    def _feed(self, page: Page, depth: int) -> PageVisit:
        """Entries as documents; in a crawl, those whose pages belong to the site are read there instead."""
        items: list[Item] = []
        links: list[URL] = []
        empty, digest = 0, hashlib.blake2b(digest_size=16)  # the page itself may have the time of the request
        try:
            for number, entry in enumerate(entries(page.body, str(page.url)), 1):
                digest.update(repr(entry).encode())
                link = _link(entry, page.url)
                if self._options.crawl and link is not None and (pages := self._frontier.pages_among([link])):
                    links += pages
                    self._dates[document_id(pages[0])] = entry.date
                elif not entry.content:
                    empty += 1
                else:
                    items += self._entry(page.url, entry, link, number)
        except ValueError as error:
            items.append(Reject(str(page.url), str(error)))
        if empty:
            items.append(Notice(str(page.url), f"Without text: {counted(empty, 'item')}; add their site with --crawl."))
        self._frontier.add(links, depth + 1)
        ids = tuple(item.id for item in items if isinstance(item, Record))
        # without validators: the dates of a feed are needed at every sync
        state = PageState(hash=digest.hexdigest(), ids=ids, links=tuple(map(str, links)))
        return PageVisit(page.url, "read", state, tuple(items))

    def _entry(self, feed: URL, entry: Entry, link: URL | None, number: int) -> Iterator[Item]:
        id_ = document_id(link) if link else f"{document_id(feed)}#{entry.key or number}"
        if id_ not in self._ids:
            self._ids.add(id_)
            yield from entry_items(entry, link or feed, id_, self._options.limits)


def _link(entry: Entry, feed: URL) -> URL | None:
    try:
        return parse_url(entry.link, feed) if entry.link else None
    except UrlError:
        return None


def _failed(url: URL, reason: str) -> PageVisit:
    return PageVisit(url, "failed", items=(Reject(str(url), reason),))


def _noindex_items(url: URL, depth: int, before: PageState | None) -> tuple[Item, ...]:
    """What is said of a page that must not be indexed: only the first one is worth a message."""
    if depth:
        return ()
    if before is not None:
        return (Notice(str(url), "its robots rule says noindex now, so its documents are removed."),)
    reason = "Expected a page that may be indexed, but its robots rule says noindex; ask its owner."
    return (Reject(str(url), reason),)


def _status_reason(status: int) -> str:
    if status in {401, 403, 407}:
        return f"Expected a page that everyone may read, but got status {status}; save it as a file and add that."
    return f"Expected a page (status 200), but got status {status}; check the address or try again later."
