"""Records of pages: the reader by type and address, ids and URLs, encodings, and types without a reader."""

from __future__ import annotations

import io

import pytest

from qa_bot.documents.ingest.records import Limits, Record, Reject
from qa_bot.documents.websites.feeds import Entry
from qa_bot.documents.websites.fetching.client import Reply
from qa_bot.documents.websites.page_records import Page, entry_items, page_items
from qa_bot.documents.websites.urls import URL

ADDRESS = "x.example/guide"


def page(body: bytes | str, content_type: str = "text/html", path: str = "/guide", **headers: str) -> Page:
    data = body.encode() if isinstance(body, str) else body
    url = URL(f"https://x.example{path}")
    return Page.of(Reply(url, 200, {"content-type": content_type, **headers}, data), url)


def records(page: Page) -> list[Record]:
    items = list(page_items(page, page.url, Limits()))
    assert all(isinstance(item, Record) for item in items), items
    return [item for item in items if isinstance(item, Record)]


def reject(page: Page) -> Reject:
    (item,) = page_items(page, page.url, Limits())
    assert isinstance(item, Reject)
    return item


def test_html() -> None:
    (record,) = records(page("<title>Cats</title><main><p>Cats sleep all day.</p></main>"))
    assert (record.id, record.url, record.where) == (ADDRESS, f"https://{ADDRESS}", f"https://{ADDRESS}")
    assert (record.title, record.text) == ("Cats", "Cats sleep all day.")


@pytest.mark.parametrize(
    ("modified", "sent", "date"),
    [
        ("", "Sat, 28 Nov 2026 10:30:00 GMT", ""),
        ("Mon, 02 Mar 2026 10:30:00 GMT", "Sat, 28 Nov 2026 10:30:00 GMT", "2026-03-02"),
        ("Mon, 02 Mar 2026 10:30:00 GMT", "", "2026-03-02"),
        ("Sat, 28 Nov 2026 10:29:59 GMT", "Sat, 28 Nov 2026 10:30:00 GMT", ""),
        ("Sun, 29 Nov 2026 10:30:00 GMT", "Sat, 28 Nov 2026 10:30:00 GMT", ""),
        ("yesterday", "Sat, 28 Nov 2026 10:30:00 GMT", ""),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "", ""),
    ],
)
def test_a_page_has_the_date_that_the_server_states(modified: str, sent: str, date: str) -> None:
    (record,) = records(page("<title>Cats</title><p>Cats sleep.", **{"last-modified": modified, "date": sent}))
    assert (record.date, record.modified) == ("", date)


def test_the_canonical_address_becomes_id_and_url() -> None:
    body = page("<title>Cats</title><p>Cats sleep.", path="/guide?sort=1")
    (record,) = page_items(body, URL("https://x.example/guide"), Limits())
    assert isinstance(record, Record)
    assert (record.id, record.url) == (ADDRESS, f"https://{ADDRESS}")


def test_the_header_declares_the_encoding() -> None:
    body = "<meta charset=utf-8><title>Größe</title><p>Die Größe der Katze".encode("cp1252")
    (record,) = records(page(body, "text/html; charset=windows-1252"))
    assert record.title == "Größe"


@pytest.mark.parametrize(
    ("body", "content_type", "path", "text"),
    [
        ("Cats sleep.", "text/plain", "/notes", "Cats sleep."),
        (b"Gr\xf6\xdfe", "text/plain; charset=latin1", "/notes.txt", "Größe"),
        ('{"title": "Cats", "text": "Cats sleep."}', "application/x-ndjson", "/data", "Cats sleep."),
        ('{"title": "Cats", "text": "Cats sleep."}', "application/octet-stream", "/data.jsonl", "Cats sleep."),
        ("<html><title>Cats</title><p>Cats sleep.</p></html>", "", "/cats", "Cats sleep."),
        ("<html><title>Cats</title><p>Cats sleep.</p></html>", "text/html", "/cats.pdf", "Cats sleep."),
    ],
    ids=["text", "latin1", "jsonl", "suffix", "no type", "type before suffix"],
)
def test_the_type_selects_the_reader(body: bytes | str, content_type: str, path: str, text: str) -> None:
    (record,) = records(page(body, content_type, path))
    assert text in record.text


def test_records_within_a_file_have_ids_below_its_address() -> None:
    body = '{"_id": "a", "text": "Cats sleep."}\n{"text": "Dogs bark.", "url": "https://y.example/"}\n'
    first, second = records(page(body, "application/x-ndjson", "/data.jsonl"))
    assert (first.id, first.url) == ("x.example/data.jsonl!a", "https://x.example/data.jsonl")
    assert (second.id, second.url) == ("x.example/data.jsonl#2", "https://y.example/")
    assert second.where == "https://x.example/data.jsonl:2"


@pytest.mark.parametrize("content_type", ["image/x-unknown", "video/mp4", "text/css", "application/x-unknown"])
def test_types_without_a_reader(content_type: str) -> None:
    result = reject(page("x", content_type))
    assert result.where == f"https://{ADDRESS}"
    assert f"but got {content_type};" in result.reason


def test_files_that_cannot_be_read() -> None:
    result = reject(page(b"%PDF-1.7 cut", "application/pdf", "/a.pdf"))
    assert result.where.startswith("https://x.example/a.pdf")


def test_feeds_are_recognised_by_type_and_content() -> None:
    feed = '<?xml version="1.0"?><rss version="2.0"></rss>'
    assert page(feed, "text/xml").is_feed
    assert page(feed, "application/rss+xml; charset=utf-8").is_feed
    assert not page(feed, "text/html").is_feed
    assert not page("<urlset/>", "text/xml").is_feed


def test_an_entry_of_a_feed() -> None:
    entry = Entry("Cats & <dogs>", "https://x.example/cats", "7", "2026-03-02", "<p>Cats <b>sleep</b>.</p>")
    (record,) = entry_items(entry, URL(entry.link), "x.example/cats", Limits())
    assert isinstance(record, Record)
    assert (record.id, record.url, record.date) == ("x.example/cats", entry.link, "2026-03-02")
    assert record.title == "Cats & <dogs>"
    assert "sleep" in record.text


def test_an_office_file_that_is_declared_as_an_archive() -> None:
    """Word's files are archives, and some servers declare them so."""
    from docx import Document

    document = Document()
    document.add_heading("Cats", 1)
    document.add_paragraph("Cats sleep all day.")
    file = io.BytesIO()
    document.save(file)
    (record,) = records(page(file.getvalue(), "application/x-zip-compressed", "/cats.docx"))
    assert record.id == "x.example/cats.docx"
    assert "Cats sleep all day." in record.text
