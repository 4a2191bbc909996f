"""Addresses: one way of writing each, ids, file names, and the pages of a site."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.urls import URL, Scope, UrlError, document_id, file_name, is_url, parse_url

BASE = URL("https://x.example/docs/a?p=1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://X.Example", "http://x.example/"),
        ("http://x.example:80/a/../b#part", "http://x.example/b"),
        ("https://x.example:8443/", "https://x.example:8443/"),
        (" b c/%7Ejoe ", "https://x.example/docs/b%20c/~joe"),
        ("?q=ä", "https://x.example/docs/a?q=%C3%A4"),
        ("#part", "https://x.example/docs/a?p=1"),
        ("//y.example/z", "https://y.example/z"),
        ("/a?utm_source=x&q=1&gclid=2", "https://x.example/a?q=1"),
        ("/a?fbclid=1", "https://x.example/a"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_one_way_of_writing(text: str, expected: str) -> None:
    assert str(parse_url(text, BASE)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://x.example/", "begins with http"),
        ("javascript:alert(1)", "begins with http"),
        ("mailto:a@x.example", "begins with http"),
        ("file:///etc/passwd", "begins with http"),
        ("http://user:secret@x.example/", "without a user name, but got one for x.example"),
        ("http://x.example\\@127.0.0.1/", "backslashes"),
        ("/a\nb", "control characters"),
        ("http://x.example:99999/", "Port out of range"),
        ("http://a b/", "begins with http"),
        ("http://", "begins with http"),
        ("http://[::1/", "address of a page"),
        ("/" + "a" * 2000, "at most 2,000 characters, but got 2,001"),
    ],
)
def test_addresses_that_cannot_be_used(text: str, reason: str) -> None:
    with pytest.raises(UrlError, match=reason):
        parse_url(text, BASE if text.startswith("/") else None)


def test_a_path_is_not_an_address() -> None:
    assert is_url("HTTPS://x.example")
    assert not is_url("http/pages")
    assert not is_url("notes.md")


def test_ids_and_file_names() -> None:
    assert document_id(URL("https://x.example:8443/a/b?q=1")) == "x.example:8443/a/b?q=1"
    assert file_name(URL("https://x.example/a/Über uns.html")) == "Über_uns.html"
    assert file_name(URL("https://x.example/a/")) == "a"
    assert file_name(URL("https://x.example/")) == "x.example"
    assert file_name(URL("https://x.example/.htaccess")) == "htaccess"
    assert len(file_name(URL(f"https://x.example/{'a' * 500}.pdf"))) == 100


@pytest.mark.parametrize(
    ("start", "inside", "outside"),
    [
        ("https://x.example/", ["https://x.example/a/b", "http://x.example/"], ["https://www.x.example/"]),
        ("https://x.example/docs", ["https://x.example/docs", "https://x.example/docs/a"], ["https://x.example/doc"]),
        (
            "https://x.example/docs/",
            ["https://x.example/docs", "https://x.example/docs/a"],
            ["https://x.example/docsx"],
        ),
        ("https://x.example/docs/index.html", ["https://x.example/docs/a.html"], ["https://x.example/a.html"]),
        ("http://x.example:8080/", ["http://x.example:8080/a"], ["http://x.example/a", "https://x.example:8443/a"]),
    ],
)
def test_pages_of_a_site(start: str, inside: list[str], outside: list[str]) -> None:
    scope = Scope(URL(start))
    assert [scope.holds(URL(url)) for url in [*inside, *outside]] == [True] * len(inside) + [False] * len(outside)


def test_pages_are_read_by_the_scheme_of_the_start() -> None:
    assert Scope(URL("https://x.example/")).normalised(URL("http://x.example/a")) == URL("https://x.example/a")
    assert Scope(URL("http://x.example:8080/")).normalised(URL("http://x.example:8080/a")).port == 8080
