"""Rules of robots.txt, and sites whose robots.txt cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from qa_bot.documents.websites.fetching.errors import FetchError
from qa_bot.documents.websites.fetching.visitor import Visitor
from qa_bot.documents.websites.robots import PARSED, Robots, RobotsError
from qa_bot.documents.websites.urls import URL

ROBOTS = "https://x.example/robots.txt"


@pytest.fixture
def robots(memory_site: Any) -> Robots:
    return Robots(Visitor(memory_site, clock=memory_site.clock))


def page(path: str) -> URL:
    return URL(f"https://x.example{path}")


@pytest.mark.parametrize(
    ("rules", "allowed", "forbidden"),
    [
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", ["/", "/a/b/c"], ["/a", "/a/c"]),
        ("User-agent: *\nDisallow: /*.pdf$", ["/x.pdf?a"], ["/x/y.pdf"]),
        ("User-agent: qa-bot\nDisallow: /x\n\nUser-agent: *\nDisallow: /", ["/y"], ["/x"]),
        ("User-agent: otherbot\nDisallow: /", ["/"], []),
        ("\ufeffUser-agent: *\nDisallow: /x", ["/"], ["/x"]),
        ("<html>not found</html>", ["/"], []),
        ("", ["/"], []),
    ],
)
def test_rules(memory_site: Any, robots: Robots, rules: str, allowed: list[str], forbidden: list[str]) -> None:
    memory_site[ROBOTS] = rules
    assert [robots.allows(page(path)) for path in [*allowed, *forbidden]] == [True] * len(allowed) + [False] * len(
        forbidden
    )
    assert memory_site.urls == [ROBOTS]


def test_of_a_large_file_the_first_lines_count(memory_site: Any, robots: Robots) -> None:
    rules = "User-agent: *\nDisallow: /x\n"
    padding = "#" * (PARSED - len(rules) - len("\nDisallow: /y")) + "\n"
    memory_site[ROBOTS] = f"{rules}{padding}Disallow: /yes\nDisallow: /z\n"
    assert [robots.allows(page(path)) for path in ("/", "/x", "/y", "/z")] == [True, False, True, True]


def test_the_reason(memory_site: Any, robots: Robots) -> None:
    memory_site[ROBOTS] = "User-agent: *\nDisallow: /x"
    with pytest.raises(
        RobotsError, match=r"a page that robots\.txt of x\.example allows, but got https://x\.example/x;"
    ):
        robots.check(page("/x"))


@pytest.mark.parametrize(("status", "allows"), [(404, True), (403, True), (500, False), (503, False), (429, False)])
def test_statuses(memory_site: Any, robots: Robots, status: int, allows: bool) -> None:
    memory_site[ROBOTS] = (status, {"retry-after": "999"}, b"")
    assert robots.allows(page("/")) == allows


def test_without_an_answer_nothing_is_allowed(memory_site: Any, robots: Robots) -> None:
    memory_site[ROBOTS] = FetchError("no network")
    with pytest.raises(RobotsError, match="no network"):
        robots.check(page("/"))
    assert list(robots.sitemaps(page("/"))) == [page("/sitemap.xml")]


@pytest.mark.parametrize(("delay", "expected"), [("2.5", 2.5), ("86400", 60.0), ("soon", 0.0)])
def test_a_crawl_delay_is_kept(memory_site: Any, robots: Robots, delay: str, expected: float) -> None:
    memory_site[ROBOTS] = f"User-agent: *\nCrawl-delay: {delay}"
    assert robots.allows(page("/"))
    assert robots.visitor.delays["x.example"] == expected


def test_sitemaps(memory_site: Any, robots: Robots) -> None:
    memory_site[ROBOTS] = (
        "Sitemap: /a.xml\nSitemap: https://y.example/b.xml\nSitemap: ftp://z\nUser-agent: *\nDisallow: /"
    )
    assert list(map(str, robots.sitemaps(page("/")))) == ["https://x.example/a.xml", "https://y.example/b.xml"]
