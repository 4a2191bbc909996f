"""Polite requests: paced, repeated when a server is busy, with redirects followed one by one, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from qa_bot.documents.websites.fetching.client import Reply
from qa_bot.documents.websites.fetching.errors import FetchError, LeftSiteError, SiteLimitError
from qa_bot.documents.websites.urls import URL, UrlError, parse_url

REDIRECTS = 5
REDIRECT = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 503})
TRIES = 3
LONGEST_PAUSE = 60.0
"""Seconds that a busy server may make us wait before a repetition."""

Request = Callable[[URL, Mapping[str, str], int], Reply]
"""Address, headers, most bytes of the body → reply."""
Admit = Callable[[URL], bool]
"""Whether a redirect may be followed to this address."""
HeadersFor = Callable[[URL], Mapping[str, str]]
"""Headers of a request to this address."""


@dataclass
class Clock:
    """Time; tests replace it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass
class Visitor:
    """Sends the requests of one site.

    Attributes:
        request: sends one request.
        interval: seconds between the beginnings of two requests to the same host.
        bytes: most bytes of all bodies together.
        seconds: longest time of all requests together.
        delays: longer intervals of some hosts, which their robots.txt demands.
    """

    request: Request
    interval: float = 1.0
    bytes: int = 1024**3
    seconds: float = 3600.0
    clock: Clock = field(default_factory=Clock)
    delays: dict[str, float] = field(default_factory=dict)
    received: int = 0
    _end: float = field(init=False)
    _next: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._end = self.clock.now() + self.seconds

    def fetch(
        self, url: URL, *, limit: int, headers: HeadersFor = lambda _: {}, admit: Admit = lambda _: True
    ) -> Reply:
        """The reply at the end of at most five redirects; its `url` is the last one.

        Raises:
            FetchError: no reply, too many redirects, or a redirect to an address that cannot be used.
            LeftSiteError: `admit` rejects an address on the way.
            SiteLimitError: a limit of the whole site is reached.
        """
        for _ in range(REDIRECTS + 1):
            reply = self._request(url, headers(url), limit)
            if reply.status not in REDIRECT:
                return reply
            url = _target(reply)
            if not admit(url):
                raise LeftSiteError(f"Expected a page of the site, but got a redirect to {url}.")
        raise FetchError(f"Expected at most {REDIRECTS} redirects, but got more; the last one leads to {url}.")

    def _request(self, url: URL, headers: Mapping[str, str], limit: int) -> Reply:
        """One request, repeated if the server is busy."""
        for attempt in range(1, TRIES + 1):
            self._wait(url.raw_host or "")
            if self.received >= self.bytes:
                raise SiteLimitError(f"{self.bytes:,} bytes are read; raise --max-bytes for more")
            reply = self.request(url, headers, limit)
            self.received += len(reply.body)
            if reply.status not in BUSY or attempt == TRIES:
                break
            pause = _retry_after(reply.headers.get("retry-after", ""))
            if pause > LONGEST_PAUSE:
                break
            host = url.raw_host or ""
            self._next[host] = max(self._next[host], self.clock.now() + pause)
        return reply

    def _wait(self, host: str) -> None:
        """Sleep until the host may be asked again."""
        begin = max(self.clock.now(), self._next.get(host, 0.0))
        if begin >= self._end:
            raise SiteLimitError(f"{self.seconds:g} seconds are over; raise --max-seconds for more")
        if (pause := begin - self.clock.now()) > 0:
            self.clock.sleep(pause)
        self._next[host] = self.clock.now() + max(self.interval, self.delays.get(host, 0.0))


def _target(reply: Reply) -> URL:
    location = reply.headers.get("location", "")
    try:
        return parse_url(location, reply.url)
    except UrlError as error:
        raise FetchError(f"Expected a redirect of {reply.url} to a page: {error}") from None


def _retry_after(value: str) -> float:
    """Seconds of a Retry-After header, which is a number or a date."""
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 5.0
