"""Values of reading a site: its options, what is remembered of a page, and what a visit of a page yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from qa_bot.documents.ingest.records import Item, Limits
from qa_bot.documents.websites.urls import URL

Outcome = Literal["read", "unchanged", "gone", "failed", "kept"]


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """How much of a site is read, and how fast.

    Attributes:
        crawl: follow links and sitemaps below the start's path; otherwise only the start is read.
        pages: most pages.
        depth: most links between the start and a page; pages of sitemaps have depth 1.
        bytes: most bytes of all pages together.
        seconds: longest time.
        rate: requests a second.
        limits: bounds on the bytes of a page, and on what is unpacked from it.
    """

    crawl: bool = False
    pages: int = 500
    depth: int = 10
    bytes: int = 512 * 1024**2
    seconds: float = 3600.0
    rate: float = 1.0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class PageState:
    """What is remembered of a page until the next sync.

    Attributes:
        etag: value of the ETag header.
        modified: value of the Last-Modified header.
        hash: hash of the body, or of a feed's entries.
        ids: documents of the page.
        links: pages of the site that it links to.
    """

    etag: str = ""
    modified: str = ""
    hash: str = ""
    ids: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def headers(self) -> dict[str, str]:
        """Headers of a request for the page only if it has changed."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in conditions.items() if value}

    def as_json(self) -> dict[str, Any]:
        """Values that `from_json` reads."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PageState:
        """From the values of `as_json`."""
        return cls(
            str(values.get("etag", "")),
            str(values.get("modified", "")),
            str(values.get("hash", "")),
            tuple(values.get("ids", ())),
            tuple(values.get("links", ())),
        )


@dataclass(frozen=True, slots=True)
class PageVisit:
    """One visited page.

    Attributes:
        url: the page's address after redirects.
        outcome: `unchanged`, `failed` and `kept` pages keep their documents, those of `gone` ones are to be deleted.
            A `kept` page was not read: no link leads to it, and the server did not say that it is gone.
        state: what to remember; None unless the page was read or is unchanged.
        items: records, rejects and notices.
        moved_to: the page of the site that a `gone` one redirects to.
    """

    url: URL
    outcome: Outcome
    state: PageState | None = None
    items: tuple[Item, ...] = ()
    moved_to: URL | None = None


@dataclass(frozen=True, slots=True)
class SiteEnd:
    """The end of a site: whether all its pages were visited, so that others are gone; and a message for the user."""

    is_complete: bool
    message: str = ""
