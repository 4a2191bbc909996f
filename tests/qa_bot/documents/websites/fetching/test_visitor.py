"""Pace, repetitions, redirects and limits, by a clock of the tests."""

from __future__ import annotations

from typing import Any

import pytest

from qa_bot.documents.websites.fetching.errors import FetchError, LeftSiteError, SiteLimitError
from qa_bot.documents.websites.fetching.visitor import Visitor
from qa_bot.documents.websites.urls import URL

A = URL("https://x.example/a")


def moved(location: str) -> tuple[int, dict[str, str], bytes]:
    return 301, {"location": location}, b""


def times(site: Any) -> list[float]:
    return [time for _, _, time in site.requests]


def test_a_request_a_second_to_each_host(memory_site: Any) -> None:
    visitor = Visitor(memory_site, clock=memory_site.clock, delays={"slow.example": 5.0})
    for url in ("https://x.example/a", "https://y.example/a", "https://x.example/b", "https://slow.example/"):
        visitor.fetch(URL(url), limit=10)
    visitor.fetch(URL("https://slow.example/"), limit=10)
    assert times(memory_site) == [0, 0, 1, 1, 6]


def test_redirects_are_followed_one_by_one(memory_site: Any) -> None:
    memory_site["https://x.example/a"] = moved("b?q=1#part")
    memory_site["https://x.example/b?q=1"] = moved("//y.example/")
    memory_site["https://y.example/"] = "<p>cats"
    reply = Visitor(memory_site, clock=memory_site.clock).fetch(
        A, limit=100, headers=lambda url: {"If-None-Match": url.path}
    )
    assert (str(reply.url), reply.status) == ("https://y.example/", 200)
    assert [headers["If-None-Match"] for _, headers, _ in memory_site.requests] == ["/a", "/b", "/"]


def test_too_many_redirects(memory_site: Any) -> None:
    memory_site["https://x.example/a"] = moved("/a")
    with pytest.raises(FetchError, match="at most 5 redirects"):
        Visitor(memory_site, clock=memory_site.clock).fetch(A, limit=100)
    assert len(memory_site.requests) == 6


@pytest.mark.parametrize("location", ["http://", "file:///etc/passwd", "http://user@y.example/", "gopher://y.example/"])
def test_redirects_to_addresses_that_cannot_be_used(memory_site: Any, location: str) -> None:
    memory_site["https://x.example/a"] = moved(location)
    with pytest.raises(FetchError, match=r"Expected a redirect of https://x\.example/a"):
        Visitor(memory_site, clock=memory_site.clock).fetch(A, limit=100)


def test_redirects_that_are_not_admitted(memory_site: Any) -> None:
    memory_site["https://x.example/a"] = moved("https://y.example/")
    with pytest.raises(LeftSiteError, match=r"https://y\.example/"):
        Visitor(memory_site, clock=memory_site.clock).fetch(A, limit=100, admit=lambda url: url.host == "x.example")
    assert memory_site.urls == ["https://x.example/a"]


@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [("3", [0, 3, 6]), ("61", [0]), ("Wed, 21 Oct 2015 07:28:00 GMT", [0, 1, 2]), ("soon", [0, 5, 10])],
)
def test_a_busy_server_is_tried_again(memory_site: Any, retry_after: str, expected: list[float]) -> None:
    memory_site["https://x.example/a"] = (503, {"retry-after": retry_after}, b"")
    assert Visitor(memory_site, clock=memory_site.clock).fetch(A, limit=100).status == 503
    assert times(memory_site) == expected


def test_the_limit_on_bytes(memory_site: Any) -> None:
    memory_site["https://x.example/a"] = "0123456789"
    visitor = Visitor(memory_site, bytes=15, clock=memory_site.clock)
    visitor.fetch(A, limit=100)
    visitor.fetch(A, limit=100)
    with pytest.raises(SiteLimitError, match="15 bytes"):
        visitor.fetch(A, limit=100)


def test_the_limit_on_seconds(memory_site: Any) -> None:
    visitor = Visitor(memory_site, seconds=3, clock=memory_site.clock)
    for _ in range(3):
        visitor.fetch(A, limit=100)
    with pytest.raises(SiteLimitError, match="3 seconds"):
        visitor.fetch(A, limit=100)
    assert times(memory_site) == [0, 1, 2]
