"""The order of the pages, and addresses that are left out."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.frontier import QUERIES, Frontier
from qa_bot.documents.websites.urls import URL, Scope

START = URL("https://x.example/docs/")


def urls(*paths: str) -> list[URL]:
    return [URL(f"https://x.example{path}") for path in paths]


def drained(frontier: Frontier) -> list[str]:
    return [frontier.next()[0].raw_path_qs for _ in range(len(frontier))]


def test_pages_come_once_in_order() -> None:
    frontier = Frontier(Scope(START), 2)
    frontier.add(urls("/docs/a", "/docs/b", "/docs/a", "/other"), 1)
    frontier.add([URL("http://x.example/docs/b")], 2)
    frontier.add(urls("/docs/feed"), 2, first=True)
    frontier.add(urls("/docs/deep"), 3)
    assert drained(frontier) == ["/docs/feed", "/docs/a", "/docs/b"]


def test_pages_behind_too_many_links_are_counted_until_a_shorter_way_leads_there() -> None:
    frontier = Frontier(Scope(START), 2)
    frontier.add(urls("/docs/a", "/docs/b", "/docs/b", "/other", "/docs/c.png"), 3)
    assert (frontier.deep, len(frontier)) == (2, 0)
    frontier.add(urls("/docs/a"), 2)
    assert (frontier.deep, len(frontier)) == (1, 1)


def test_pages_that_find_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_bot.documents.websites.frontier.WAITING", 2)
    frontier = Frontier(Scope(START), 2)
    frontier.add(urls("/docs/a", "/docs/b", "/docs/c"), 1)
    assert (frontier.crowded, len(frontier)) == (1, 2)


def test_visited_pages_are_not_queued() -> None:
    frontier = Frontier(Scope(START), 2)
    assert frontier.visit(START)
    assert not frontier.visit(URL("http://x.example/docs/"))
    frontier.add([START], 1)
    assert len(frontier) == 0


def test_pictures_and_programs_are_left_out() -> None:
    frontier = Frontier(Scope(START), 2)
    frontier.add(urls("/docs/a.css", "/docs/b.JPEG", "/docs/c.exe", "/docs/d.pdf", "/docs/e.php", "/docs/f.v2"), 1)
    assert drained(frontier) == ["/docs/d.pdf", "/docs/e.php", "/docs/f.v2"]


def test_calendars_end() -> None:
    frontier = Frontier(Scope(START), 2)
    frontier.add(urls(*(f"/docs/calendar?day={day}" for day in range(QUERIES + 7))), 1)
    frontier.add(urls("/docs/other?day=1"), 1)
    assert len(frontier) == QUERIES + 1
    assert frontier.trapped == 7
