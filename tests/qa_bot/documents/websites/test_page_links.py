"""Tags of a page that matter to a crawler, and pages that try to delay it."""

from __future__ import annotations

import time

import pytest

from qa_bot.documents.websites.page_links import PageTags, page_tags
from qa_bot.documents.websites.urls import URL

PAGE = URL("https://x.example/docs/")


def tags(html: str, header: str = "") -> PageTags:
    return page_tags(html, PAGE, robots_header=header)


def links(html: str) -> list[str]:
    return [str(url).removeprefix("https://x.example") for url in tags(html).links]


def test_links() -> None:
    html = """<A HREF=/a>a</A> <a class="x > y" href='b?x=1&amp;y=2#top'>b</a> <area href="c">
    <a href="/a#again">a</a> <a name="here"> <a href=""> <a href="mailto:x@y.example"> <a rel="nofollow" href="/d">"""
    assert links(html) == ["/a", "/docs/b?x=1&y=2", "/docs/c"]


def test_links_are_relative_to_the_base() -> None:
    assert links('<base href="/other/"><a href="a">') == ["/other/a"]
    assert links('<base href="ftp://y"><a href="a">') == ["/docs/a"]


@pytest.mark.parametrize(
    "html",
    [
        "<!-- <a href=/a> -->",
        "<script>'<a href=/a>'</script>",
        "<style><a href=/a></style>",
        "<title><a href=/a></title>",
        "<textarea><a href=/a>",
        "<!-- <a href=/a>",
        "1 < 2 a href=/a>",
        "<a href='/a",
    ],
)
def test_texts_that_look_like_links(html: str) -> None:
    assert links(html) == []


def test_links_behind_scripts_and_long_tags() -> None:
    assert links("<script>x</SCRIPT ><a href=/a>") == ["/a"]
    assert links(f"<img src='data:{'x' * 20_000}'><p><a href=/a>") == ["/a"]
    assert links("a < b <3 <a href=/a>") == ["/a"]


def test_canonical_addresses_and_feeds() -> None:
    result = tags(
        '<link rel="canonical" href="/guide"><link rel="Canonical" href="/second"><link rel="stylesheet" href="x.css">'
        '<link rel="alternate" type="application/rss+xml" href="/news.xml">'
        '<link rel="alternate" hreflang="de" href="/">'
    )
    assert str(result.canonical) == "https://x.example/guide"
    assert [url.path for url in result.feeds] == ["/news.xml"]


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ("", "", (True, True)),
        ('<meta name="robots" content="noindex">', "", (False, True)),
        ('<META NAME="ROBOTS" CONTENT="index, NoFollow">', "", (True, False)),
        ('<meta name="qa-bot" content="none">', "", (False, False)),
        ('<meta name="googlebot" content="noindex">', "", (True, True)),
        ('<meta name="description" content="noindex">', "", (True, True)),
        ("", "noindex, nofollow", (False, False)),
        ("", "otherbot: noindex, nofollow", (True, True)),
        ("", "otherbot: nofollow, qa-bot: noindex", (False, True)),
        ("", "unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", (False, True)),
    ],
)
def test_rules_for_robots(html: str, header: str, expected: tuple[bool, bool]) -> None:
    result = tags(f"{html}<a href=/a>", header)
    assert (result.index, result.follow) == expected
    assert bool(result.links) == result.follow


@pytest.mark.parametrize(
    "piece",
    ["<div>", "<", "<!--", "<a href=", "<a href='", "<script>", "<a x ", "<!", "</", "<aaaaaaaa", "<a  ", '<a "'],
)
def test_time_grows_with_the_size_only(piece: str) -> None:
    begin = time.process_time()
    tags(piece * (500_000 // len(piece)))
    assert time.process_time() - begin < 2


def test_the_number_of_links_is_bounded() -> None:
    assert len(links("".join(f"<a href=/{number}>" for number in range(3000)))) == 2000
