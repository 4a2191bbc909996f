"""What a site's robots.txt (RFC 9309) allows. The only file that imports protego."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from protego import Protego

from qa_bot.documents.websites.fetching.client import OK, user_agent
from qa_bot.documents.websites.fetching.errors import FetchError
from qa_bot.documents.websites.fetching.visitor import Visitor
from qa_bot.documents.websites.urls import URL, UrlError, parse_url

PARSED = 512 * 1024
"""Bytes of a robots.txt whose rules count; RFC 9309 asks for at least 500 KiB."""
LIMIT = 16 * 1024**2
"""Most bytes of a robots.txt; of a larger one nothing is known."""
LONGEST_DELAY = 60.0
"""Seconds; a longer Crawl-delay counts as this one."""


class RobotsError(FetchError):
    """The site forbids the page, or its robots.txt cannot be read."""


@dataclass(slots=True)
class Robots:
    """Reads each host's robots.txt once, and sets the pauses that it demands."""

    visitor: Visitor
    _rules: dict[URL, Protego | str] = field(default_factory=dict)

    def check(self, url: URL) -> None:
        """Raises RobotsError if the page must not be requested."""
        rules = self._of(url)
        if isinstance(rules, str):
            raise RobotsError(rules)
        if not rules.can_fetch(str(url), user_agent()):
            raise RobotsError(f"Expected a page that robots.txt of {url.host} allows, but got {url}; ask its owner.")

    def allows(self, url: URL) -> bool:
        """Whether the page may be requested."""
        try:
            self.check(url)
        except RobotsError:
            return False
        return True

    def sitemaps(self, url: URL) -> Iterator[URL]:
        """Sitemaps that the robots.txt of a page's host names, else `/sitemap.xml`."""
        rules = self._of(url)
        named = [] if isinstance(rules, str) else list(rules.sitemaps)
        for address in named or ["/sitemap.xml"]:
            try:
                yield parse_url(address, url)
            except UrlError:
                continue

    def _of(self, url: URL) -> Protego | str:
        """The rules of a page's host, or why nothing of it may be read."""
        origin = url.origin()
        if origin not in self._rules:
            self._rules[origin] = self._read(origin)
        return self._rules[origin]

    def _read(self, origin: URL) -> Protego | str:
        try:
            reply = self.visitor.fetch(origin / "robots.txt", limit=LIMIT)
        except FetchError as error:
            return str(error)
        if reply.status >= 500 or reply.status == 429:
            return (
                f"Expected robots.txt of {origin.host}, but got status {reply.status}; nothing is read without it, try "
                "again later."
            )
        rules = Protego.parse(_beginning(reply.body).decode("utf-8-sig", "replace") if reply.status == OK else "")
        delay = rules.crawl_delay(user_agent()) or 0.0
        self.visitor.delays[origin.raw_host or ""] = min(delay, LONGEST_DELAY)
        return rules


def _beginning(body: bytes) -> bytes:
    """The lines that count; a line that is cut off could forbid more than it says."""
    return body if len(body) <= PARSED else body[: body.rfind(b"\n", 0, PARSED) + 1]
