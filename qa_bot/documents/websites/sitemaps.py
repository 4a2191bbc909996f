"""Pages that a site's sitemaps (sitemaps.org) list, also through indexes and compressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from qa_bot.documents.ingest.files.xml import Handler
from qa_bot.documents.websites.fetching.client import OK
from qa_bot.documents.websites.fetching.decompression import GZIP_MAGIC, gunzip
from qa_bot.documents.websites.fetching.errors import BodyError, FetchError
from qa_bot.documents.websites.fetching.visitor import BUSY, Visitor
from qa_bot.documents.websites.robots import Robots
from qa_bot.documents.websites.urls import URL, UrlError, parse_url
from qa_bot.documents.websites.xml_source import local_name, parse_xml

BYTES = 50 * 1024**2
"""Most bytes of a sitemap, unpacked: the limit of sitemaps.org."""
SITEMAPS = 50
"""Most sitemaps of a site that are read."""
SERVER_ERROR = 500


def sitemap_pages(start: URL, robots: Robots, visitor: Visitor, failed: Callable[[URL], None]) -> Iterator[URL]:
    """The pages in the sitemaps of a site, in their order; sitemaps that cannot be read are left out.

    Args:
        failed: called with a sitemap that the server did not send now; another time it may list further pages.
    """
    waiting = list(robots.sitemaps(start))
    seen: set[URL] = set()
    while waiting and len(seen) < SITEMAPS:
        sitemap = waiting.pop(0)
        if sitemap in seen or not robots.allows(sitemap):
            continue
        seen.add(sitemap)
        for is_page, url in _entries(sitemap, visitor, failed):
            if is_page:
                yield url
            elif url.host == sitemap.host:
                waiting.append(url)


def _entries(sitemap: URL, visitor: Visitor, failed: Callable[[URL], None]) -> Iterator[tuple[bool, URL]]:
    """Each address, and whether it is a page rather than another sitemap."""
    try:
        reply = visitor.fetch(sitemap, limit=BYTES)
        body = gunzip(reply.body, BYTES) if reply.body.startswith(GZIP_MAGIC) else reply.body
    except BodyError:
        return
    except FetchError:
        failed(sitemap)
        return
    if reply.status != OK:
        if reply.status in BUSY or reply.status >= SERVER_ERROR:
            failed(sitemap)
        return
    for is_page, address in _addresses(body, str(sitemap)):
        try:
            yield is_page, parse_url(address, sitemap)
        except UrlError:
            continue


def _addresses(body: bytes, where: str) -> Iterable[tuple[bool, str]]:
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):  # a text file with an address a line
        yield from ((True, line) for line in body.decode("utf-8-sig", "replace").split() if "://" in line)
        return
    try:
        yield from parse_xml(body, where, _Locations())
    except ValueError:
        return  # what is listed before the error is used


class _Locations(Handler[tuple[bool, str]]):
    """The `<loc>` of each `<url>` or `<sitemap>`."""

    def __init__(self) -> None:
        super().__init__()
        self._parents: list[str] = []
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 (the parser's signature)
        self._parents.append(local_name(tag))
        self._text = []

    def data(self, text: str) -> None:
        if self._parents and self._parents[-1] == "loc":
            self._text.append(text)

    def end(self, tag: str) -> None:  # noqa: ARG002 (the parser's signature)
        if self._parents[-2:] in (["url", "loc"], ["sitemap", "loc"]):
            self.results.append((self._parents[-2] == "url", "".join(self._text).strip()))
        self._parents.pop()
