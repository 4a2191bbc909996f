"""Requests of raw sockets: `Expect`, announced lengths, malformed HTTP."""

from __future__ import annotations

import json
import socket

import pytest

from qa_bot.web.access.arrival import HEADER, LINE
from qa_bot.web.app import BODY

SECRET = "correct-horse"
BODY_TEXT = json.dumps({"query": "cats"}).encode()


def exchange(service, lines: list[str], body: bytes = b"", *, host: str | None = None) -> tuple[bytes, bytes]:
    """Send a request and read until the service closes or the body of the reply is whole; head and body."""
    port = service.running.settings.port
    head = "\r\n".join([*lines, f"Host: {host or f'localhost:{port}'}", "", ""]).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(head)
        reply = b""
        while True:
            reply += (part := raw.recv(65_536))
            if reply.endswith(b"100 Continue\r\n\r\n"):
                raw.sendall(body)
                continue
            start, _, content = reply.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n").partition(b"\r\n\r\n")
            length = [line for line in start.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            if not part or (length and len(content) >= int(length[0].split(b":")[1])):
                return reply[: len(reply) - len(content)], content


def asking(*headers: str, length: int = len(BODY_TEXT), path: str = "/api/search") -> list[str]:
    return [f"POST {path} HTTP/1.1", "Content-Type: application/json", f"Content-Length: {length}", *headers]


def test_a_client_that_waits_for_100_is_told_to_go_on(serve) -> None:
    service = serve(token=SECRET)
    head, body = exchange(service, asking("Expect: 100-continue", f"X-API-Key: {SECRET}"), BODY_TEXT)
    assert head.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert json.loads(body)["results"]


@pytest.mark.parametrize(
    ("headers", "host", "status"),
    [
        ((), None, b"401"),
        (("X-API-Key: wrong",), None, b"401"),
        ((f"X-API-Key: {SECRET}",), "evil.example", b"403"),
    ],
)
def test_who_may_not_ask_is_not_told_to_go_on(serve, headers, host, status) -> None:
    service = serve(token=SECRET, warm=False)
    for path in ("/api/search", "/nothing"):
        head, _ = exchange(service, asking("Expect: 100-continue", *headers, path=path), host=host)
        assert head.split()[1] == status
        assert b"100 Continue" not in head


def test_a_path_that_is_not_there_wants_no_body(serve) -> None:
    head, _ = exchange(serve(warm=False), asking("Expect: 100-continue", path="/nothing"))
    assert head.startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("expectation", ["200-ok", "100-continue, x", "x" * 5000])
@pytest.mark.parametrize("path", ["/api/search", "/livez", "/nothing"])
def test_another_expectation_is_refused_by_name(serve, caplog, expectation, path) -> None:
    """The property: a clear reply with the usual headers, and no traceback in the log."""
    service = serve(warm=False)
    head, body = exchange(service, asking(f"Expect: {expectation}", path=path))
    assert head.startswith(b"HTTP/1.1 417 ")
    assert json.loads(body)["error"]["code"] == "expectation_failed"
    assert "100-continue" in json.loads(body)["error"]["message"]
    assert b"Connection: close" in head
    assert not [record for record in caplog.records if record.exc_info]


def test_http_1_0_expects_nothing(serve) -> None:
    head, _ = exchange(serve(warm=False), ["GET /livez HTTP/1.0", "Expect: 200-ok"])
    assert head.split()[1] == b"200"


@pytest.mark.parametrize("expect", [(), ("Expect: 100-continue",)])
def test_a_body_that_is_announced_as_too_long_is_refused_at_once(serve, expect) -> None:
    """Before any of it is sent; the connection ends, since the body is not read."""
    head, body = exchange(serve(warm=False), asking(*expect, length=10_000_000_000))
    assert head.startswith(b"HTTP/1.1 413 ")
    assert f"at most {BODY:,} bytes" in json.loads(body)["error"]["message"]
    assert b"Connection: close" in head


@pytest.mark.parametrize(
    "sent", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nb\r\n\r\n", b"GET /livez HTTP/9\r\n\r\n"]
)
def test_replies_to_malformed_http_name_no_software(service, sent) -> None:
    with socket.create_connection(("127.0.0.1", service.running.settings.port), timeout=30) as raw:
        raw.sendall(sent)
        reply = raw.recv(65_536)
    assert b"\r\nServer: qa-bot\r\n" in reply
    assert b"\r\nX-Content-Type-Options: nosniff\r\n" in reply
    assert b"aiohttp" not in reply.lower()
    assert b"python" not in reply.lower()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"x" * LINE + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * (HEADER + 1) + b"\r\n\r\n",
        b"hello\r\n\r\n",
    ],
    ids=["line", "header", "no HTTP"],
)
def test_malformed_http_gets_the_error_object(service, logged, sent) -> None:
    with socket.create_connection(("127.0.0.1", service.running.settings.port), timeout=30) as raw:
        raw.sendall(sent)
        reply = b"".join(iter(lambda: raw.recv(65_536), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    assert head.startswith(b"HTTP/1.0 400 ")
    assert b"\r\nContent-Type: application/json" in head
    assert (error["code"], error["message"].split()[0]) == ("bad_request", "Expected")
    assert f"\r\nX-Request-ID: {error['request_id']}".encode() in head
    (line,) = (line for line in map(json.loads, logged.getvalue().splitlines()) if line["event"] == "refused")
    assert line["request_id"] == error["request_id"]
