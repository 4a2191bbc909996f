"""Websites of the tests: one that exists in memory only, and a real server on loopback under several names."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from multidict import CIMultiDict

from qa_bot.documents.websites.fetching.client import Reply, WebClient
from qa_bot.documents.websites.fetching.errors import BodyError
from qa_bot.documents.websites.fetching.guard import Guard
from qa_bot.documents.websites.fetching.visitor import Clock
from qa_bot.documents.websites.urls import URL

HTML = {"content-type": "text/html"}
PATIENCE = 30.0


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


@dataclass
class Server:
    """A server on loopback; `pages` are handlers by host and path."""

    port: int
    pages: dict[str, Callable[[web.Request], web.StreamResponse]] = field(default_factory=dict)
    requests: list[tuple[str, CIMultiDict[str]]] = field(default_factory=list)
    lookups: list[str] = field(default_factory=list)
    addresses: dict[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """Of a host: one result for each look-up, the last one for all further ones."""

    def html(self, address: str, text: str, **headers: str) -> None:
        self.pages[address] = lambda _: web.Response(text=text, content_type="text/html", headers=headers)

    def url(self, address: str) -> URL:
        """`http://HOST:PORT/PATH` for `HOST/PATH`."""
        host, _, path = address.partition("/")
        return URL(f"http://{host}:{self.port}/{path}", encoded=True)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The name server of the tests."""
        self.lookups.append(host)
        results = self.addresses.get(host, [["127.0.0.1"]])
        return results[min(self.lookups.count(host), len(results)) - 1]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        address = f"{request.host.partition(':')[0]}{request.rel_url}"
        self.requests.append((address, CIMultiDict(request.headers)))
        page = self.pages.get(address)
        return page(request) if page else web.Response(status=404)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server in a thread with a separate event loop."""
    ready, stop = threading.Event(), asyncio.Event()
    held: list[tuple[Server, asyncio.AbstractEventLoop]] = []

    async def live() -> None:
        site = Server(0)
        runner = web.ServerRunner(web.Server(site.handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        site.port = runner.addresses[0][1]
        held.append((site, asyncio.get_running_loop()))
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(live(),))
    thread.start()
    assert ready.wait(PATIENCE)
    site, loop = held[0]
    yield site
    loop.call_soon_threadsafe(stop.set)
    thread.join(PATIENCE)


@pytest.fixture
def client(server: Server) -> Iterator[WebClient]:
    """A client that may read the host `site.example` on the server's port."""
    guard = Guard.of(f"site.example:{server.port}", private=False)
    with WebClient(guard, resolve=server.resolve, seconds=5) as opened:
        yield opened
