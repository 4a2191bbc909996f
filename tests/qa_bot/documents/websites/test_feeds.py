"""Entries of feeds in their dialects."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.feeds import Entry, entries, is_feed

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"
  xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>News</title><link>https://x.example/</link><atom:link rel="self" href="https://x.example/feed"/>
<item><title>Cats &amp;amp; dogs</title><link>https://x.example/cats</link><guid isPermaLink="false">7</guid>
<description>Short</description><content:encoded><![CDATA[<p>Cats <b>sleep</b>.</p>]]></content:encoded>
<media:title>Picture</media:title><pubDate>Mon, 02 Mar 2026 10:30:00 +0100</pubDate></item>
<item><title>Second</title><guid>https://x.example/second</guid>
<description>Text &lt;i&gt;two&lt;/i&gt;</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><title type="html">Cats &lt;em&gt;again&lt;/em&gt;</title><id>urn:1</id>
<link rel="edit" href="/edit"/><link rel="alternate" href="/cats"/>
<published>2026-03-01T00:00:00Z</published><updated>2026-03-02T10:30:00+01:00</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p class="a">1 &lt; 2<br/>cats</p></div></content>
</entry>
<entry><title>Bare</title><id>urn:2</id><updated>2026-03</updated></entry></feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><item rdf:about="x"><title>Old</title><link>https://x.example/old</link>
<dc:date>2001-09-30</dc:date><description>Text</description></item></rdf:RDF>"""


def test_rss() -> None:
    assert list(entries(RSS.encode(), "feed")) == [
        Entry("Cats & dogs", "https://x.example/cats", "7", "2026-03-02T09:30:00Z", "<p>Cats <b>sleep</b>.</p>"),
        Entry("Second", "https://x.example/second", "https://x.example/second", "", "Text <i>two</i>"),
    ]


def test_atom() -> None:
    content = '<div><p class="a">1 &lt; 2<br></br>cats</p></div>'
    assert list(entries(ATOM.encode(), "feed")) == [
        Entry("Cats again", "/cats", "urn:1", "2026-03-02T09:30:00Z", content),
        Entry("Bare", "", "urn:2", "2026-03", ""),
    ]


def test_rdf() -> None:
    assert list(entries(RDF.encode(), "feed")) == [
        Entry("Old", "https://x.example/old", "", "2001-09-30", "Text"),
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [(RSS, True), (ATOM, True), (RDF, True), ("<html><body>rss", False), ("<feedback>", False), ("", False)],
)
def test_what_is_a_feed(body: str, expected: bool) -> None:
    assert is_feed(body.encode()) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (RSS.replace("</channel>", "</wrong>"), "well-formed XML"),
        (RSS.replace("<rss", '<!DOCTYPE x [<!ENTITY e "x">]><rss', 1), "without entities"),
    ],
    ids=["broken", "entities"],
)
def test_broken_feeds(body: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        list(entries(body.encode(), "feed"))


def test_entries_before_an_error_are_kept() -> None:
    feed = entries(RSS.replace("</channel>", "</wrong>").encode(), "feed")
    assert [next(feed).title, next(feed).title] == ["Cats & dogs", "Second"]
