"""Entries of RSS (0.9 to 2.0) and Atom (RFC 4287) feeds, with their dates."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from qa_bot.documents.ingest.files.xml import Handler
from qa_bot.documents.websites.xml_source import local_name, parse_xml

_ROOT = re.compile(rb"<(?:\w+:)?(rss|feed|RDF)[\s>]")
_SCANNED = 1024
_ENTRIES = frozenset({"item", "entry"})
_CONTENT = ("encoded", "content", "description", "summary")  # the first that an entry has
_DATES = ("updated", "modified", "pubdate", "published", "date", "issued", "created")
_FIELDS = frozenset({"title", "link", "guid", "id", *_CONTENT, *_DATES})
LONGEST_FIELD = 4 * 1024**2


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed; `content` is HTML, `date` is ISO 8601 or empty."""

    title: str
    link: str
    key: str
    date: str
    content: str


def is_feed(body: bytes) -> bool:
    """Whether the body begins as an RSS or Atom feed."""
    return _ROOT.search(body[:_SCANNED]) is not None


def entries(body: bytes, where: str) -> Iterator[Entry]:
    """The entries of a feed.

    Raises ValueError behind the last good entry if the XML is broken or has entities.
    """
    yield from parse_xml(body, where, _Entries())


@dataclass(slots=True)
class _Fields:
    """Texts of the elements of an entry, by the element's name, and its links by their relation."""

    texts: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def first(self, names: Sequence[str]) -> str:
        return next((self.texts[name] for name in names if self.texts.get(name)), "")

    def entry(self) -> Entry:
        key = self.first(("guid", "id"))
        link = self.links.get("alternate") or self.texts.get("link") or (key if "://" in key else "")
        title = re.sub(r"<[^<>]*>", "", html.unescape(self.texts.get("title", "")))
        return Entry(" ".join(title.split()), link, key, _iso_date(self.first(_DATES)), self.first(_CONTENT))


class _Entries(Handler[Entry]):
    """Collects the fields of each `<item>` or `<entry>`; markup inside a field is written as HTML again."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._entry: _Fields | None = None
        self._entry_depth = 0
        self._name = ""  # of the field that is read
        self._parts: list[str] = []
        self._size = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        self._depth += 1
        if self._entry is None:
            if name in _ENTRIES:
                self._entry, self._entry_depth = _Fields(), self._depth
        elif self._depth == self._entry_depth + 1:
            self._begin_field(self._entry, tag, attributes)
        elif self._name:
            self._write(f"<{name}{_attributes(attributes)}>")

    def data(self, text: str) -> None:
        if self._name:
            is_markup = self._depth > self._entry_depth + 1
            self._write(html.escape(text) if is_markup else text)

    def end(self, tag: str) -> None:
        depth, self._depth = self._depth, self._depth - 1
        if self._entry is None:
            return
        if depth == self._entry_depth:
            self.results.append(self._entry.entry())
            self._entry = None
        elif depth == self._entry_depth + 1:
            if self._name:
                self._entry.texts.setdefault(self._name, "".join(self._parts).strip())
            self._name = ""
        elif self._name:
            self._write(f"</{local_name(tag)}>")

    def _begin_field(self, entry: _Fields, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        is_media = "search.yahoo.com/mrss" in tag  # its title and description are those of a picture
        self._name = name if name in _FIELDS and not is_media else ""
        self._parts, self._size = [], 0
        if name == "link" and attributes.get("href"):
            entry.links.setdefault(attributes.get("rel", "alternate"), attributes["href"])

    def _write(self, text: str) -> None:
        self._size += len(text)
        if self._size <= LONGEST_FIELD:
            self._parts.append(text)


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {local_name(name)}="{html.escape(value)}"' for name, value in attributes.items())


def _iso_date(text: str) -> str:
    """A date of RFC 822 or ISO 8601 as ISO 8601 in UTC; empty if it is neither."""
    text = text.strip()
    if re.fullmatch(r"\d{4}(-\d\d){0,2}", text):
        return text
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = parse(text)
        except (ValueError, TypeError, OverflowError):
            continue
        return (date.astimezone(UTC) if date.tzinfo else date).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ""
