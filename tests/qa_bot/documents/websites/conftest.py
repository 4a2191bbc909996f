"""A website that exists in memory only, and a client of the server on loopback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from qa_bot.documents.websites.fetching.client import Reply, WebClient
from qa_bot.documents.websites.fetching.errors import BodyError
from qa_bot.documents.websites.fetching.guard import Guard
from qa_bot.documents.websites.fetching.visitor import Clock
from qa_bot.documents.websites.urls import URL

HTML = {"content-type": "text/html"}


class FakeTime(Clock):
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.time = 0.0
        super().__init__(lambda: self.time, self._advance)

    def _advance(self, seconds: float) -> None:
        self.time += seconds


@dataclass
class MemorySite:
    """Replies by address: `site[url] = "<p>text"`, `= (status, headers, body)` or an exception."""

    clock: FakeTime = field(default_factory=FakeTime)
    replies: dict[str, tuple[int, dict[str, str], bytes] | Exception] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], float]] = field(default_factory=list)

    def __setitem__(self, url: str, reply: str | Exception | tuple[int, dict[str, str], bytes]) -> None:
        self.replies[url] = (200, dict(HTML), reply.encode()) if isinstance(reply, str) else reply

    def __call__(self, url: URL, headers: Mapping[str, str], limit: int) -> Reply:
        self.requests.append((str(url), dict(headers), self.clock.time))
        reply = self.replies.get(str(url), (404, {}, b""))
        if isinstance(reply, Exception):
            raise reply
        status, fields, body = reply
        if len(body) > limit:
            raise BodyError(f"{len(body)} bytes")
        if status == 200 and headers.get("If-None-Match", "-") == fields.get("etag"):
            return Reply(url, 304, fields)
        return Reply(url, status, fields, body)

    @property
    def urls(self) -> list[str]:
        """The addresses of all requests."""
        return [url for url, _, _ in self.requests]


@pytest.fixture
def memory_site() -> MemorySite:
    return MemorySite()


@pytest.fixture
def client(server: Any) -> Iterator[WebClient]:
    """A client that may read the host `site.example` on the server's port."""
    guard = Guard.of(f"site.example:{server.port}", private=False)
    with WebClient(guard, resolve=server.resolve, seconds=5) as opened:
        yield opened
