"""A whole site from a real server on loopback, under a name that the settings allow."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from aiohttp import web

from qa_bot.documents.ingest.records import Record, Reject
from qa_bot.documents.websites.site import read_site
from qa_bot.documents.websites.urls import UrlError
from qa_bot.documents.websites.visits import PageVisit, SiteEnd, SiteOptions
from qa_bot.home.sections import WebSection

FAST = SiteOptions(crawl=True, rate=1000.0)


def visits(server: Any, *, allow: str = "", previous: Any = None) -> dict[str, PageVisit]:
    results = list(
        read_site(
            str(server.url("docs.example/guide/")),
            FAST,
            WebSection(allow=allow or f"docs.example:{server.port}"),
            previous=previous,
            resolve=server.resolve,
        )
    )
    assert isinstance(results[-1], SiteEnd)
    return {visit.url.raw_path_qs.rpartition("/")[2]: visit for visit in results if isinstance(visit, PageVisit)}


@pytest.fixture
def site(server: Any) -> Any:
    server.html("docs.example/guide/", "<title>Guide</title><p>A guide to cats, see <a href='sleep?x=1&y=2'>sleep</a>")
    server.pages["docs.example/guide/sleep?x=1&y=2"] = lambda _: web.Response(
        body=gzip.compress("<title>Schlaf</title><p>Größere Katzen schlafen länger.".encode("latin1")),
        headers={"Content-Type": "text/html; charset=ISO-8859-1", "Content-Encoding": "gzip", "ETag": '"1"'},
    )
    return server


def test_a_site(site: Any) -> None:
    result = visits(site)
    (record,) = result["sleep?x=1&y=2"].items
    assert isinstance(record, Record)
    assert (record.id, record.title) == (f"docs.example:{site.port}/guide/sleep?x=1&y=2", "Schlaf")
    assert record.text == "Größere Katzen schlafen länger."
    assert {headers["User-Agent"][:7] for _, headers in site.requests} == {"qa-bot/"}


def test_a_redirect_inside_is_refused(site: Any) -> None:
    site.pages["docs.example/guide/"] = lambda _: web.Response(
        status=302, headers={"Location": f"http://inside.example:{site.port}/"}
    )
    site.html("inside.example/", "<p>secret")
    (visit,) = visits(site).values()
    assert visit.outcome == "failed"
    assert isinstance(visit.items[0], Reject)
    assert f"Expected port 80 or 443, but got {site.port} of inside.example" in visit.items[0].reason
    assert [address for address, _ in site.requests] == ["docs.example/robots.txt", "docs.example/guide/"]


def test_a_name_that_is_not_allowed(site: Any) -> None:
    (visit,) = visits(site, allow="other.example").values()
    assert visit.outcome == "failed"
    assert site.requests == []


def test_addresses_of_other_kinds() -> None:
    with pytest.raises(UrlError, match="begins with http"):
        list(read_site("file:///etc/passwd", FAST, WebSection()))
