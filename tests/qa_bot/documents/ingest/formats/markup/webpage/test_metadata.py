"""Title, date, language, robots and links of a page."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import read_page


def metadata(head, body="<p>x"):
    return read_page(f"<html lang='fr-CA'><head>{head}</head><body>{body}</body></html>", with_links=True).metadata


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ("<meta property='article:modified_time' content='2024-03-05T10:00:00Z'>", "2024-03-05T10:00:00+00:00"),
        ("<meta http-equiv=Last-Modified content='Tue, 05 Mar 2024 10:00:00 GMT'>", "2024-03-05T10:00:00+00:00"),
        ("<meta name=date content='2020-01-01'><meta name=revised content='March 5, 2024'>", "2024-03-05"),
        ('<script type="application/ld+json">{"dateModified": "2024-03-05"}</script>', "2024-03-05"),
        ("<meta name=date content='03/04/2024'>", ""),
        ("", ""),
    ],
)
def test_the_date_of_the_last_change(head, date):
    assert metadata(head).date == date


def test_the_footer_of_asciidoctor_dates_the_page():
    footer = "<div id=footer><div id=footer-text>Version 7<br>Last updated 2023-01-26 05:35:43 UTC</div></div>"
    assert metadata("", footer).date == "2023-01-26"


def test_a_time_element_counts_if_it_dates_the_page():
    assert metadata("", "<time datetime=2020-01-01>then</time>").date == ""
    assert metadata("", "<time itemprop=dateModified datetime=2020-01-01>then</time>").date == "2020-01-01"


TIME, LATER = "<time datetime=2020-01-01>then</time>", "<time datetime=2021-02-03>later</time>"


@pytest.mark.parametrize(
    ("body", "date"),
    [
        (f"<p>Published {TIME}, last updated on <b>{LATER}</b></p>", "2021-02-03"),
        (f"<p>Published: {TIME}</p>", "2020-01-01"),
        (f"<div class=entry-meta>By Erna, {TIME}</div>", "2020-01-01"),
        (f"<div class=lastUpdated>On {TIME}</div><p>Published {LATER}", "2020-01-01"),
        (f"<p>Published {TIME}</p><p>Published {LATER}</p>", ""),
        (f"<p>The fees were changed on {TIME}</p>", ""),
        ("<div class=post-meta><span title='2020-01-01 00:00:00 +0000 UTC'>January 1, 2020</span>", "2020-01-01T00:00"),
        ("<div class=post-meta><span title='2020-01-01'>Erna</span>", ""),
        ("<footer><li>This page was last edited on 4 May 2025, at 10:11.<li>CC BY</footer>", "2025-05-04"),
        ("<p>x<footer><p>In May 2025 we moved.</footer>", ""),
    ],
)
def test_times_and_footers_that_say_what_they_date(body: str, date: str) -> None:
    assert metadata("", body).date[:16] == date
    assert metadata("<meta name=date content=2019-01-01>", body).date == "2019-01-01"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Parking | Northwind</title>", "<h1>Parking</h1>", "Parking"),
        ("<title>Northwind - Parking</title>", "<h1>Parking</h1>", "Parking"),
        ("<title>Parking - Northwind</title>", "<h1>Northwind</h1><h1>Parking</h1>", "Parking"),
        ("<title>Northwind Help</title>", "<a href='/'>Northwind Help</a><h1>Parking</h1>", "Parking"),
        ("<title>Help</title><meta property=og:site_name content=Help>", "<h1>Parking</h1><h1>Fees</h1>", "Parking"),
        ("<title>Help</title><meta name=application-name content=Help>", "<h2>Parking</h2>", "Help"),
        ("<title>Northwind Help</title>", "<a href='/parking'>Northwind Help</a><h1>Parking</h1>", "Northwind Help"),
        ("<title>Parking and more</title>", "<h1>Parking</h1>", "Parking and more"),
        ("<title>Town - PO</title>", "<h1>The Town</h1><h1 class='big Title'>Parking</h1>", "Parking"),
        ("<title>Town - PO</title>", "<h1 class=title>Parking</h1>", "Town - PO"),
        ("<title>Town - PO</title>", "<h1 class=title>Town</h1><h1 class=title>Parking</h1>", "Town"),
        ("<title>Town - PO</title>", "<h1 class=title>Council</h1><h1 class=title>Parking</h1>", "Town - PO"),
        ("", "<h1>Parking ¶</h1>", "Parking"),
        ("<meta property=og:title content='Parking'>", "<p>x", "Parking"),
        ("", "<svg><title>icon</title></svg><p>x", "icon"),
    ],
)
def test_title(head, body, title):
    assert metadata(head, body).title == title


def test_language_robots_canonical_and_links():
    page = metadata(
        "<meta name=ROBOTS content='NoIndex, follow'><link rel=canonical href=' https://a.org/ '><base href=/docs/>",
        "<a href=b>b</a><a href=b>again</a><a rel='nofollow ugc' href=c>c</a>",
    )
    assert (page.language, page.canonical, page.base, page.links) == ("fr", "https://a.org/", "/docs/", ("b",))
    assert (page.robots.noindex, page.robots.nofollow) == (True, False)
    assert metadata("<meta name=robots content=none>").robots.nofollow


def test_the_heading_of_the_site_is_not_the_title():
    body = "<h1>Loomly</h1><h2>Shipping times <a href=/p>Print</a></h2><p>Text."
    assert metadata("<title>Shipping times : Loomly</title>", body).title == "Shipping times"
    assert metadata("<title>Prices : Loomly</title>", body).title == "Loomly"


def test_the_title_of_dokuwiki_is_its_heading():
    head = "<title>it:vpn [Team wiki]</title><meta name=generator content=DokuWiki>"
    assert metadata(head, "<h1>Team wiki</h1><main><h1>VPN</h1><p>Port 1194.</main>").title == "VPN"
    assert metadata(head, "<p>Port 1194.").title == "it:vpn [Team wiki]"
