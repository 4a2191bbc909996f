"""A small home, a real web server on loopback, under names that the tests choose, and reading ahead of few files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from multidict import CIMultiDict

from qa_bot.documents.read_ahead import ahead
from qa_bot.documents.read_ahead.children import Answer, Children
from qa_bot.documents.read_ahead.file_read import Request
from qa_bot.documents.sync import add
from qa_bot.documents.websites.urls import URL
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.stored import BREAD, CONFIG, ROWS

PATIENCE = 30.0
SENT = Children.submit


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


@pytest.fixture(scope="module")
def other_encoder(other_encoder_folder: Path) -> StaticEncoder:
    return StaticEncoder.load(other_encoder_folder)


@pytest.fixture
def four(empty_home, encoder, write_lines) -> Home:
    """A home with `ROWS` in the collection "facts"."""
    add(empty_home, CONFIG, encoder, [write_lines("four.jsonl", *ROWS)], collection="facts")
    return empty_home


@pytest.fixture
def changed(write_lines) -> Path:
    """Two unchanged documents, two changed ones, and two new ones that are near-duplicates."""
    long = " ".join(f"word{i}" for i in range(60))
    rows = [{**ROWS[0], "text": "New."}, ROWS[1], {**ROWS[2], "title": "Rust"}, ROWS[3], {**BREAD, "text": long}]
    return write_lines("changed.jsonl", *rows, {"_id": "twin", "title": "", "text": f"{long}."})


@pytest.fixture
def few_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of few files is read ahead, too, by two processes and in small chunks."""
    monkeypatch.setattr(ahead, "LEAST_FILES", 1)
    monkeypatch.setattr(ahead, "LEAST_BYTES", 0)
    monkeypatch.setattr(ahead, "CHUNK_FILES", 3)
    monkeypatch.setattr(ahead, "_cores", lambda: 3)


@pytest.fixture
def read_there(monkeypatch: pytest.MonkeyPatch, few_suffice: None) -> list[Future[list[Answer]]]:
    """The processes read all files before the first is taken; what they answered."""
    answers: list[Future[list[Answer]]] = []

    def submit(self: Children, requests: list[Request]) -> Future[list[Answer]]:
        answers.append(SENT(self, requests))
        answers[-1].result()
        return answers[-1]

    monkeypatch.setattr(Children, "submit", submit)
    return answers
