"""Pages of sitemaps: indexes, compressed ones, texts, broken and hostile ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from typing import Any

from qa_bot.documents.websites.fetching.errors import FetchError
from qa_bot.documents.websites.fetching.visitor import Visitor
from qa_bot.documents.websites.robots import Robots
from qa_bot.documents.websites.sitemaps import SITEMAPS, sitemap_pages
from qa_bot.documents.websites.urls import URL

START = URL("https://x.example/")
SITEMAP = "https://x.example/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def pages(site: Any, failed: Callable[[URL], None] = lambda _: None) -> list[str]:
    visitor = Visitor(site, clock=site.clock)
    listed = sitemap_pages(START, Robots(visitor), visitor, failed)
    return [str(url).removeprefix("https://x.example") for url in listed]


def url_set(addresses: Iterable[str]) -> str:
    entries = "".join(f"<url><loc> {address} </loc><lastmod>2026-01-01</lastmod></url>" for address in addresses)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE}>{entries}</urlset>'


def index(addresses: Iterable[str]) -> str:
    entries = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f"<sitemapindex {NAMESPACE}>{entries}</sitemapindex>"


def test_a_sitemap(memory_site: Any) -> None:
    memory_site[SITEMAP] = url_set(["https://x.example/a", "/b?x=1&amp;y=2", "ftp://x.example/c"])
    assert pages(memory_site) == ["/a", "/b?x=1&y=2"]


def test_an_index_of_compressed_sitemaps_of_the_same_host(memory_site: Any) -> None:
    memory_site[SITEMAP] = index(["https://x.example/1.xml.gz", "https://y.example/2.xml", SITEMAP])
    memory_site["https://x.example/1.xml.gz"] = (200, {}, gzip.compress(url_set(["/a"]).encode()))
    assert pages(memory_site) == ["/a"]
    assert "https://y.example/2.xml" not in memory_site.urls


def test_a_sitemap_of_lines(memory_site: Any) -> None:
    memory_site[SITEMAP] = (200, {}, "\ufeffhttps://x.example/a\r\nhttps://x.example/b\n".encode())
    assert pages(memory_site) == ["/a", "/b"]


def test_pages_before_an_error_are_used(memory_site: Any) -> None:
    memory_site[SITEMAP] = url_set(["/a", "/b"]).replace("</urlset>", "</wrong>")
    assert pages(memory_site) == ["/a", "/b"]


def test_entities_are_refused(memory_site: Any) -> None:
    memory_site[SITEMAP] = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>{url_set(["/a?&e;"])}'
    assert pages(memory_site) == []


def test_bombs_and_failures_are_left_out(memory_site: Any) -> None:
    memory_site["https://x.example/robots.txt"] = "".join(f"Sitemap: /{number}\n" for number in range(1, 6))
    memory_site["https://x.example/1"] = (200, {}, gzip.compress(b" " * 60_000_000, 1))
    memory_site["https://x.example/2"] = FetchError("no answer")
    memory_site["https://x.example/4"] = url_set(["/a"])
    memory_site["https://x.example/5"] = (500, {}, b"")
    failed: list[URL] = []
    assert pages(memory_site, failed.append) == ["/a"]
    assert [url.path for url in failed] == ["/2", "/5"]  # the third is not there: that is an answer


def test_the_number_of_sitemaps_is_bounded(memory_site: Any) -> None:
    for number in range(SITEMAPS + 10):
        memory_site[f"https://x.example/{number}.xml"] = index([f"https://x.example/{number + 1}.xml"])
    memory_site[SITEMAP] = index(["https://x.example/0.xml"])
    assert pages(memory_site) == []
    assert len(memory_site.urls) == SITEMAPS + 1  # with robots.txt


def test_robots_may_forbid_a_sitemap(memory_site: Any) -> None:
    memory_site["https://x.example/robots.txt"] = "User-agent: *\nDisallow: /sitemap.xml"
    memory_site[SITEMAP] = url_set(["/a"])
    assert pages(memory_site) == []
