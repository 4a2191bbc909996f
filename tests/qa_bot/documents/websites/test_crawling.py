"""Crawls of sites in memory: which pages are visited, when, and what they yield."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from qa_bot.documents.ingest.records import Limits, Notice, Record, Reject
from qa_bot.documents.websites.crawling import crawl
from qa_bot.documents.websites.fetching.errors import FetchError
from qa_bot.documents.websites.urls import URL, document_id
from qa_bot.documents.websites.visits import PageState, PageVisit, SiteEnd, SiteOptions

SITE = "https://x.example"


class Result:
    """A finished crawl."""

    def __init__(
        self, site: Any, start: str, options: SiteOptions, previous: dict[str, PageState], doubted: Collection[str]
    ) -> None:
        site.requests.clear()
        results = list(crawl(URL(start), options, site, previous=previous, doubted=doubted, clock=site.clock))
        assert isinstance(results[-1], SiteEnd)
        self.end = results[-1]
        self.visits = [visit for visit in results if isinstance(visit, PageVisit)]
        self.items = [item for visit in self.visits for item in visit.items]
        self.records = {item.id: item for item in self.items if isinstance(item, Record)}
        self.rejects = [item for item in self.items if isinstance(item, Reject)]
        self.outcomes = {str(visit.url).removeprefix(SITE): visit.outcome for visit in self.visits}
        self.states = {document_id(visit.url): visit.state for visit in self.visits if visit.state}


def run(
    site: Any,
    start: str = f"{SITE}/",
    previous: dict[str, PageState] | None = None,
    doubted: Collection[str] = (),
    **options: Any,
) -> Result:
    return Result(site, start, SiteOptions(**{"crawl": True, **options}), previous or {}, doubted)


def html(text: str, *links: str, head: str = "") -> str:
    return f"<html><head><title>{text}</title>{head}</head><body><p>{text} is here.</p>" + "".join(
        f"<p>See <a href='{link}'>it</a> for more about this and that.</p>" for link in links
    )


@pytest.fixture
def site(memory_site: Any) -> Any:
    """Three pages, one below the other, and one elsewhere."""
    memory_site[f"{SITE}/"] = html("Home", "/a", "https://y.example/", "/logo.png")
    memory_site[f"{SITE}/a"] = html("A", "/", "/b")
    memory_site[f"{SITE}/b"] = html("B")
    return memory_site


def test_one_page(site: Any) -> None:
    result = run(site, crawl=False)
    assert list(result.records) == ["x.example/"]
    assert result.end == SiteEnd(is_complete=True)
    assert site.urls == [f"{SITE}/robots.txt", f"{SITE}/"]


def test_a_site(site: Any) -> None:
    result = run(site)
    assert list(result.records) == ["x.example/", "x.example/a", "x.example/b"]
    assert result.records["x.example/b"].url == f"{SITE}/b"
    assert result.end == SiteEnd(is_complete=True)
    paths = ["/robots.txt", "/", "/sitemap.xml", "/a", "/b"]
    assert [(url, time) for url, _, time in site.requests] == [(SITE + path, at) for at, path in enumerate(paths)]


def test_pages_of_the_sitemap_are_read_though_none_links_to_them(site: Any) -> None:
    site[f"{SITE}/sitemap.xml"] = f"<urlset><url><loc>{SITE}/lonely</loc></url></urlset>"
    site[f"{SITE}/lonely"] = html("Lonely")
    assert "x.example/lonely" in run(site).records


def test_only_pages_below_the_start(site: Any) -> None:
    site[f"{SITE}/docs/"] = html("Docs", "/", "guide", "../a")
    site[f"{SITE}/docs/guide"] = html("Guide")
    assert list(run(site, f"{SITE}/docs/").records) == ["x.example/docs/", "x.example/docs/guide"]


def test_limits_on_pages_and_depth(site: Any) -> None:
    result = run(site, pages=2)
    assert list(result.records) == ["x.example/", "x.example/a"]
    assert result.end == SiteEnd(False, "not read: 1 more page; raise --max-pages")
    result = run(site, depth=1)
    assert list(result.records) == ["x.example/", "x.example/a"]
    assert result.end == SiteEnd(False, "not read: 1 page behind more links; raise --max-depth")


def test_limits_on_bytes_and_seconds(site: Any) -> None:
    result = run(site, bytes=300)
    assert not result.end.is_complete
    assert "300 bytes are read; raise --max-bytes" in result.end.message
    result = run(site, seconds=3.5)
    assert list(result.records) == ["x.example/", "x.example/a"]
    assert "3.5 seconds are over; raise --max-seconds" in result.end.message


def test_the_rate_and_the_crawl_delay(site: Any) -> None:
    begin = site.clock.time
    run(site, rate=4.0)
    assert [time - begin for _, _, time in site.requests] == [0, 0.25, 0.5, 0.75, 1]
    site[f"{SITE}/robots.txt"] = "User-agent: *\nCrawl-delay: 10"
    begin = site.clock.time
    run(site, rate=4.0)
    assert [time - begin for _, _, time in site.requests] == [0, 0.25, 10.25, 20.25, 30.25]


def test_robots_txt_is_obeyed(site: Any) -> None:
    site[f"{SITE}/robots.txt"] = "User-agent: *\nDisallow: /a"
    result = run(site)
    assert list(result.records) == ["x.example/"]
    assert result.end == SiteEnd(True, "robots.txt forbids 1 page")
    site[f"{SITE}/robots.txt"] = "User-agent: *\nDisallow: /"
    result = run(site)
    assert [reject.where for reject in result.rejects] == [f"{SITE}/"]
    assert result.end == SiteEnd(False)
    assert site.urls == [f"{SITE}/robots.txt"]


def test_rules_of_the_pages_are_obeyed(site: Any) -> None:
    site[f"{SITE}/"] = html("Home", "/a", head='<meta name="robots" content="noindex">')
    site[f"{SITE}/a"] = html("A", "/b", head='<meta name="robots" content="nofollow">')
    result = run(site)
    assert list(result.records) == ["x.example/a"]
    assert "noindex" in result.rejects[0].reason
    site[f"{SITE}/a"] = (200, {"content-type": "text/html", "x-robots-tag": "noindex"}, html("A", "/b").encode())
    assert list(run(site).records) == ["x.example/b"]


def test_pages_that_name_another_address(site: Any) -> None:
    canonical = '<link rel="canonical" href="/c">'
    site[f"{SITE}/"] = html("Home", "/a", "/a?print=1", "/c")
    site[f"{SITE}/a"] = html("A", head=canonical)
    site[f"{SITE}/a?print=1"] = html("A printed", "/b", head=canonical)
    site[f"{SITE}/c"] = html("C")
    result = run(site)
    assert {id_: record.title for id_, record in result.records.items()} == {
        "x.example/": "Home",
        "x.example/c": "A",
        "x.example/b": "B",
    }
    assert f"{SITE}/c" not in site.urls


@pytest.mark.parametrize("href", ["https://y.example/a", "/", "ftp://x.example/c"])
def test_canonical_addresses_elsewhere_and_of_the_front_page_do_not_count(site: Any, href: str) -> None:
    site[f"{SITE}/a"] = html("A", head=f'<link rel="canonical" href="{href}">')
    assert "x.example/a" in run(site).records


def test_redirects(site: Any) -> None:
    site[f"{SITE}/"] = html("Home", "/old", "/away", "/again")
    site[f"{SITE}/old"] = (301, {"location": "/a"}, b"")
    site[f"{SITE}/away"] = (302, {"location": "https://y.example/"}, b"")
    site[f"{SITE}/again"] = (302, {"location": "/a"}, b"")
    result = run(site)
    assert list(result.records) == ["x.example/", "x.example/a", "x.example/b"]
    assert site.urls.count(f"{SITE}/a") == 1
    assert "https://y.example/" not in site.urls
    assert result.rejects == []


def test_the_start_may_lead_to_another_host(site: Any) -> None:
    site["http://old.example/"] = (301, {"location": f"{SITE}/"}, b"")
    result = run(site, "http://old.example/")
    assert list(result.records) == ["x.example/", "x.example/a", "x.example/b"]
    site[f"{SITE}/robots.txt"] = "User-agent: *\nDisallow: /"
    assert run(site, "http://old.example/").records == {}


def test_a_start_that_moves_within_the_site_keeps_the_whole_site(site: Any) -> None:
    site[f"{SITE}/"] = (302, {"location": "/en/"}, b"")
    site[f"{SITE}/en/"] = html("English", "/a")
    assert list(run(site).records) == ["x.example/en/", "x.example/a", "x.example/b"]


def test_a_start_that_moves_to_https(site: Any) -> None:
    site["http://x.example/"] = (301, {"location": f"{SITE}/"}, b"")
    site[f"{SITE}/"] = html("Home", "http://x.example/a")
    result = run(site, "http://x.example/")
    assert "x.example/a" in result.records
    assert "http://x.example/a" not in site.urls


def test_failures_are_rejected_and_the_rest_is_read(site: Any) -> None:
    site[f"{SITE}/"] = html("Home", "/error", "/login", "/broken", "/gone", "/image", "/large", "/a")
    site[f"{SITE}/error"] = (500, {}, b"")
    site[f"{SITE}/login"] = (401, {}, b"")
    site[f"{SITE}/broken"] = FetchError("Expected to reach x.example.")
    site[f"{SITE}/gone"] = (410, {}, b"")
    site[f"{SITE}/image"] = (200, {"content-type": "image/x-icon"}, b"")
    site[f"{SITE}/large"] = (200, {"content-type": "text/html"}, bytes(2000))
    result = run(site, limits=Limits(record_bytes=1000))
    assert {reject.where.removeprefix(SITE): reject.reason[:40] for reject in result.rejects} == {
        "/error": "Expected a page (status 200), but got st",
        "/login": "Expected a page that everyone may read, ",
        "/broken": "Expected to reach x.example.",
        "/image": "Expected a page or a document, but got i",
        "/large": "2000 bytes",
    }
    assert result.outcomes["/gone"] == "gone"
    assert result.outcomes["/error"] == result.outcomes["/broken"] == result.outcomes["/large"] == "failed"
    assert "x.example/b" in result.records


@pytest.mark.parametrize("reply", [(404, {}, b""), (500, {}, b""), FetchError("no network")])
def test_a_start_that_fails_says_nothing_of_the_site(site: Any, reply: Any) -> None:
    site[f"{SITE}/"] = reply
    result = run(site)
    assert len(result.rejects) == 1
    assert result.end == SiteEnd(is_complete=False)


# --- the next sync --------------------------------------------------------------------------------------------------


def with_etag(text: str, etag: str) -> tuple[int, dict[str, str], bytes]:
    return (
        200,
        {"content-type": "text/html", "etag": etag, "last-modified": "Mon, 02 Mar 2026 10:30:00 GMT"},
        text.encode(),
    )


def test_unchanged_pages_are_not_read_but_their_links_are_followed(site: Any) -> None:
    site[f"{SITE}/"] = with_etag(html("Home", "/a"), '"1"')
    first = run(site)
    assert first.states["x.example/"].headers() == {
        "If-None-Match": '"1"',
        "If-Modified-Since": "Mon, 02 Mar 2026 10:30:00 GMT",
    }
    site[f"{SITE}/b"] = html("B changed")
    second = run(site, previous=first.states)
    assert second.outcomes == {"/": "unchanged", "/a": "unchanged", "/b": "read"}
    assert list(second.records) == ["x.example/b"]
    assert second.states.keys() == first.states.keys()
    assert second.states["x.example/"] == first.states["x.example/"]
    assert second.end.is_complete
    assert site.requests[1][1]["If-None-Match"] == '"1"'
    assert "If-None-Match" not in site.requests[3][1]


@pytest.mark.parametrize("etag", ["", '"1"'])
def test_noindex_comes_and_goes_in_a_header(site: Any, etag: str) -> None:
    """The body stays the same, or the server answers 304."""

    def reply(**rule: str) -> tuple[int, dict[str, str], bytes]:
        return 200, {"content-type": "text/html", "etag": etag, **rule}, html("A", "/b").encode()

    site[f"{SITE}/a"] = reply()
    first = run(site)
    site[f"{SITE}/a"] = reply(**{"x-robots-tag": "noindex"})
    hidden = run(site, previous=first.states)
    assert hidden.outcomes == {"/": "unchanged", "/a": "read", "/b": "unchanged"}
    assert (hidden.records, hidden.states["x.example/a"].ids) == ({}, ())
    still = run(site, previous=hidden.states)
    assert (still.records, still.states["x.example/a"].ids) == ({}, ())
    site[f"{SITE}/a"] = reply()
    assert list(run(site, previous=still.states).records) == ["x.example/a"]


def test_a_page_that_moved_is_requested_with_its_validators(site: Any) -> None:
    site[f"{SITE}/"] = html("Home", "/old")
    site[f"{SITE}/old"] = (301, {"location": "/a"}, b"")
    site[f"{SITE}/a"] = with_etag(html("A"), '"1"')
    assert run(site, previous=run(site).states).outcomes == {"/": "unchanged", "/a": "unchanged"}


def test_pages_without_links_to_them_are_not_visited_again(site: Any) -> None:
    first = run(site)
    site[f"{SITE}/a"] = html("A")
    second = run(site, previous=first.states)
    assert second.outcomes == {"/": "unchanged", "/a": "read"}
    assert second.end.is_complete


PAGES = ("x.example/", "x.example/a", "x.example/b")


def outcomes_of(site: Any, **options: Any) -> dict[str, str]:
    """The outcomes of two pages of a site whose first page has no links, and had some before."""
    site[f"{SITE}/"] = html("Home", "/a")
    first = run(site)
    site[f"{SITE}/"] = "<p>Log in to read this.</p>"
    outcomes = run(site, previous=first.states, doubted=PAGES, **options).outcomes
    return {path: outcome for path, outcome in outcomes.items() if path in {"/a", "/b"}}


def test_pages_that_no_link_leads_to_are_kept_unless_the_server_says_that_they_are_gone(site: Any) -> None:
    assert outcomes_of(site) == {"/a": "kept", "/b": "kept"}
    site[f"{SITE}/a"], site[f"{SITE}/b"] = (410, {}, b""), (503, {"retry-after": "0"}, b"")
    assert outcomes_of(site) == {"/a": "gone", "/b": "kept"}


def test_a_page_that_moved_is_gone_but_not_one_that_leads_to_a_login(site: Any) -> None:
    site[f"{SITE}/sitemap.xml"] = f"<urlset><url><loc>{SITE}/new</loc></url></urlset>"
    site[f"{SITE}/new"] = html("New")
    site[f"{SITE}/a"] = (301, {"location": "/new"}, b"")
    assert outcomes_of(site) == {"/a": "gone", "/b": "kept"}
    site[f"{SITE}/b"] = (301, {"location": "/new"}, b"")
    assert outcomes_of(site) == {"/a": "kept", "/b": "kept"}
    site[f"{SITE}/a"], site[f"{SITE}/b"] = (302, {"location": "/"}, b""), (302, {"location": "https://y.example/"}, b"")
    assert outcomes_of(site) == {"/a": "kept", "/b": "kept"}


def test_earlier_pages_are_asked_for_within_the_rules(site: Any) -> None:
    result = run(site, doubted=[*PAGES, "x.example/c"], pages=3)
    assert result.end == SiteEnd(False, "not read: 1 more page; raise --max-pages")
    site[f"{SITE}/robots.txt"] = "User-agent: *\nDisallow: /a"
    assert outcomes_of(site) == {"/b": "kept"}
    assert f"{SITE}/a" not in site.urls
    assert outcomes_of(site, crawl=False) == {}
    assert run(site, doubted=PAGES[1:]).outcomes == {"/": "read"}


def test_a_page_that_fails_leads_where_it_led_before(site: Any) -> None:
    first = run(site)
    site[f"{SITE}/a"] = (500, {}, b"")
    assert run(site, previous=first.states).outcomes == {"/": "unchanged", "/a": "failed", "/b": "unchanged"}


def test_a_sitemap_that_fails_says_nothing_of_its_pages(site: Any) -> None:
    site[f"{SITE}/sitemap.xml"] = (503, {}, b"")
    assert run(site).end == SiteEnd(
        False, f"{SITE}/sitemap.xml cannot be read now, so pages that only it lists are missing"
    )


def test_states_survive_json(site: Any) -> None:
    states = run(site).states
    assert {url: PageState.from_json(state.as_json()) for url, state in states.items()} == states
    assert states["x.example/"].ids == ("x.example/",)
    assert states["x.example/"].links == (f"{SITE}/a",)


def test_an_unexpected_304_fails(site: Any) -> None:
    site[f"{SITE}/a"] = (304, {}, b"")
    assert run(site).outcomes["/a"] == "failed"


# --- feeds ----------------------------------------------------------------------------------------------------------


def feed(*entries: tuple[str, str]) -> tuple[int, dict[str, str], bytes]:
    items = "".join(
        f"<item><title>{link[-4:]}</title><link>{link}</link><pubDate>2026-03-02</pubDate>"
        f"<description>{text}</description></item>"
        for link, text in entries
    )
    return 200, {"content-type": "application/rss+xml"}, f"<rss><channel>{items}</channel></rss>".encode()


def test_entries_of_a_feed_are_documents(site: Any) -> None:
    site[f"{SITE}/feed"] = feed(
        (f"{SITE}/a", "Text of a."), ("https://y.example/b", "Text of b."), ("", "Text."), ("", "")
    )
    result = run(site, f"{SITE}/feed", crawl=False)
    assert {id_: (record.date, record.text) for id_, record in result.records.items()} == {
        "x.example/a": ("2026-03-02", "Text of a."),
        "y.example/b": ("2026-03-02", "Text of b."),
        "x.example/feed#3": ("2026-03-02", "Text."),
    }
    notice = result.items[-1]
    assert isinstance(notice, Notice)
    assert notice.message == "Without text: 1 item; add their site with --crawl."


def test_a_crawl_reads_the_pages_of_entries_and_takes_their_dates(site: Any) -> None:
    site[f"{SITE}/"] = html("Home", "/a", head='<link rel="alternate" type="application/rss+xml" href="/feed">')
    site[f"{SITE}/feed"] = feed(
        (f"{SITE}/a", "Short."), (f"{SITE}/post", "Short."), ("https://y.example/b", "Text of b.")
    )
    site[f"{SITE}/post"] = html("Post")
    first = run(site)
    assert {id_: record.date for id_, record in first.records.items()} == {
        "x.example/": "",
        "y.example/b": "2026-03-02",
        "x.example/a": "2026-03-02",
        "x.example/post": "2026-03-02",
        "x.example/b": "",
    }
    assert run(site, previous=first.states).outcomes["/feed"] == "read"


def test_a_broken_feed_keeps_the_entries_before_the_error(site: Any) -> None:
    status, headers, body = feed((f"{SITE}/a", "Text of a."))
    site[f"{SITE}/feed"] = (status, headers, body.replace(b"</channel>", b"</wrong>"))
    result = run(site, f"{SITE}/feed", crawl=False)
    assert list(result.records) == ["x.example/a"]
    assert "well-formed" in result.rejects[0].reason
