"""Reads a website over the network: the entrance to this room."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from qa_bot.documents.websites.crawling import crawl
from qa_bot.documents.websites.fetching.client import Resolve, WebClient, system_addresses
from qa_bot.documents.websites.fetching.guard import Guard
from qa_bot.documents.websites.urls import parse_url
from qa_bot.documents.websites.visits import PageState, PageVisit, SiteEnd, SiteOptions
from qa_bot.home.sections import WebSection


def read_site(
    url: str,
    options: SiteOptions,
    web: WebSection,
    *,
    previous: Mapping[str, PageState] | None = None,
    doubted: Collection[str] = (),
    resolve: Resolve = system_addresses,
) -> Iterator[PageVisit | SiteEnd]:
    """Visit a page, or its site; the last item is a `SiteEnd`. Not for threads with a running event loop.

    Args:
        url: the first page.
        options: limits and pace.
        web: the settings that allow addresses.
        previous: the states of the last sync, by the pages' `document_id`s.
        doubted: earlier pages that are requested if no link leads to them; see `crawl`.
        resolve: addresses of a host, instead of the operating system's.

    Raises:
        UrlError: the address cannot be used.
    """
    start = parse_url(url)
    with WebClient(Guard.of(web.allow, private=web.private), resolve=resolve) as client:
        yield from crawl(start, options, client.get, previous=previous, doubted=doubted)
