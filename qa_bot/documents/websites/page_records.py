"""The records of a page: its bytes go through the reader of their format, and get the page's address as id."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath

from qa_bot.documents.ingest import read
from qa_bot.documents.ingest.detect import BY_SUFFIX
from qa_bot.documents.ingest.records import Item, Limits, Record, Reject
from qa_bot.documents.websites.charsets import decode_page, decode_text
from qa_bot.documents.websites.feeds import Entry, is_feed
from qa_bot.documents.websites.fetching.client import Reply
from qa_bot.documents.websites.page_links import FEED_TYPES
from qa_bot.documents.websites.urls import URL, document_id, file_name

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
HTML = frozenset({"text/html", "application/xhtml+xml"})
_ZIP = frozenset({"application/zip", "application/x-zip", "application/x-zip-compressed"})
_XML = frozenset({"application/xml", "text/xml"})
_UNSPECIFIC = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", *_XML, *_ZIP})
"""Types that say little; the address's suffix says more if it is one of a reader."""
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/rtf": ".rtf",
    "text/vtt": ".vtt",
    "text/x-rst": ".rst",
    "text/asciidoc": ".adoc",
    "text/xml": ".xml",
    "message/rfc822": ".eml",
    "application/xml": ".xml",
    "application/docbook+xml": ".docbook",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/rtf": ".rtf",
    "application/epub+zip": ".epub",
    "application/msword": ".doc",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.ms-outlook": ".msg",
    f"{_OFFICE}wordprocessingml.document": ".docx",
    f"{_OFFICE}presentationml.presentation": ".pptx",
    f"{_OFFICE}spreadsheetml.sheet": ".xlsx",
    f"{_OPEN_DOCUMENT}text": ".odt",
    f"{_OPEN_DOCUMENT}presentation": ".odp",
    f"{_OPEN_DOCUMENT}spreadsheet": ".ods",
    "application/x-ipynb+json": ".ipynb",
    **dict.fromkeys(_ZIP, ".zip"),
    "application/gzip": ".gz",
    "application/octet-stream": "",
    "binary/octet-stream": "",
    "": "",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as received.

    Attributes:
        html: its text if it is HTML.
        modified: when it was changed, in seconds since 1970; 0 if the server does not say.
    """

    url: URL
    content_type: str
    body: bytes
    html: str | None = None
    modified: float = 0

    @classmethod
    def of(cls, reply: Reply, url: URL) -> Page:
        header, modified = reply.headers.get("content-type", ""), _modified(reply.headers)
        content_type = header.partition(";")[0].strip().lower()
        if content_type not in HTML:
            body = decode_text(reply.body, header) if "text" in content_type else reply.body
            return cls(url, content_type, body, None, modified)
        text = decode_page(reply.body, header)
        return cls(url, content_type, text.encode("utf-8-sig"), text, modified)

    @property
    def is_feed(self) -> bool:
        """Whether it is an RSS or Atom feed."""
        could_be = self.content_type in FEED_TYPES or self.content_type in _UNSPECIFIC
        return could_be and is_feed(self.body)


def page_items(page: Page, address: URL, limits: Limits) -> Iterator[Item]:
    """The records of a page; `address` is its canonical one, which becomes their id and URL."""
    suffix = _suffix(page)
    if suffix is None:
        yield Reject(
            str(page.url),
            f"Expected a page or a document, but got {page.content_type}; convert it to HTML, PDF or text.",
        )
        return
    name = file_name(page.url)
    name = name if name.lower().endswith(suffix) else f"{name}{suffix}"
    yield from _read(page.body, name, address, limits, page.modified)


def entry_items(entry: Entry, address: URL, address_id: str, limits: Limits) -> Iterator[Item]:
    """The record of a feed's entry."""
    title = html.escape(entry.title)
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><main>{entry.content}</main></body></html>"
    for item in _read(page.encode("utf-8-sig"), "entry.html", address, limits):
        if isinstance(item, Record):
            item = replace(item, id=address_id, title=entry.title or item.title, date=entry.date or item.date)
        yield item


def _suffix(page: Page) -> str | None:
    """The suffix that selects the reader; None if there is none for the type."""
    in_address = PurePosixPath(page.url.path).suffix.lower()
    is_known = in_address in BY_SUFFIX
    if page.content_type in _SUFFIXES and not (page.content_type in _UNSPECIFIC and is_known):
        return _SUFFIXES[page.content_type]
    return in_address if is_known else None


def _modified(headers: Mapping[str, str]) -> float:
    """The time of Last-Modified, unless the page was made for the request, which takes no minute."""
    times = []
    for name in ("last-modified", "date"):
        try:
            times.append(parsedate_to_datetime(headers.get(name, "")).timestamp())
        except (ValueError, TypeError, OverflowError):
            times.append(0.0)
    modified, sent = times
    is_made_now = sent > 0 and modified > sent - 60
    return 0.0 if is_made_now else max(modified, 0.0)


def _read(body: bytes, name: str, address: URL, limits: Limits, modified: float = 0) -> Iterator[Item]:
    with tempfile.TemporaryDirectory(prefix="qa-bot-") as folder:
        path = Path(folder) / name
        path.write_bytes(body)
        os.utime(path, (modified, modified))
        for item in read(path, limits=limits):
            yield _of_page(item, path, address)


def _of_page(item: Item, path: Path, address: URL) -> Item:
    where = item.where.replace(str(path), str(address))
    where = where.removesuffix(":1") if where == f"{address}:1" else where
    if not isinstance(item, Record):
        return replace(item, where=where)
    inside = item.id.removeprefix(path.name)
    separator = "" if inside[:1] in {"", "#", "!", ":", "/"} else "!"
    return replace(item, id=f"{document_id(address)}{separator}{inside}", url=item.url or str(address), where=where)
