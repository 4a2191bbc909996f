"""The record of the running service, and what is asked of it."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from qa_bot.home.folder import Home
from qa_bot.home.health.running_service import announced_service, service_health


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def record(home: Home, url: str, pid: int) -> None:
    (home.path / "service.json").write_text(json.dumps({"url": url, "pid": pid}))


@contextmanager
def replying(status: int, body: bytes) -> Iterator[tuple[str, list[str | None]]]:
    """A server with one reply; yields its URL and the credentials that clients send."""
    credentials: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            credentials.append(self.headers["Authorization"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", credentials
    finally:
        server.shutdown()
        thread.join(30)
        server.server_close()


def test_the_record_is_private_and_goes_with_its_service(home: Home) -> None:
    file = home.path / "service.json"
    with announced_service(home, "http://127.0.0.1:1/"):
        assert json.loads(file.read_text()) == {"url": "http://127.0.0.1:1/", "pid": os.getpid()}
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()


def test_the_record_of_a_later_service_stays(home: Home) -> None:
    with announced_service(home, "http://127.0.0.1:1/"):
        record(home, "http://127.0.0.1:2/", os.getpid())
    assert json.loads((home.path / "service.json").read_text())["url"] == "http://127.0.0.1:2/"


def test_the_token_is_sent_and_the_health_returned(home: Home) -> None:
    with replying(200, b'{"status": "ok"}') as (url, credentials):
        record(home, url, os.getpid())
        assert service_health(home, "secret") == {"status": "ok"}
        assert service_health(home, "") == {"status": "ok"}
    assert credentials == ["Bearer secret", None]


@pytest.mark.parametrize(("status", "body"), [(401, b"{}"), (200, b"[]"), (200, b"<html>"), (503, b'{"ready": false}')])
def test_what_is_not_a_health_counts_as_none(home: Home, status: int, body: bytes) -> None:
    with replying(status, body) as (url, _):
        record(home, url, os.getpid())
        assert service_health(home, "") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"url": "http://127.0.0.1:1/", "pid": 1e99}', '{"url": "http://[", "pid": 1}']
)
def test_a_damaged_record_counts_as_none(home: Home, text: str) -> None:
    (home.path / "service.json").write_text(text)
    assert service_health(home, "") is None


def test_a_dead_service_is_not_asked(home: Home) -> None:
    """Another program may listen on its port by now; the token must not be sent there."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    with replying(200, b"{}") as (url, credentials):
        record(home, url, pid)
        assert service_health(home, "secret") is None
    assert credentials == []


def test_a_closed_port_counts_as_none(home: Home) -> None:
    with replying(200, b"{}") as (url, _):
        pass
    record(home, url, os.getpid())
    assert service_health(home, "") is None
