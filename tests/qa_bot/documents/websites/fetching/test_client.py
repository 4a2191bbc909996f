"""Requests to a real server on loopback, which the guard allows by name."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web

from qa_bot.documents.websites.fetching.client import WebClient, system_addresses, user_agent
from qa_bot.documents.websites.fetching.errors import BodyError, FetchError, RefusedError
from qa_bot.documents.websites.fetching.guard import Guard


def test_a_page(server: Any, client: WebClient) -> None:
    server.html("site.example/a", "<p>cats", ETag='"1"')
    reply = client.get(server.url("site.example/a"), {"If-None-Match": '"0"'}, 1000)
    assert (reply.status, reply.body, reply.headers["etag"]) == (200, b"<p>cats", '"1"')
    headers = server.requests[0][1]
    assert (headers["User-Agent"], headers["If-None-Match"]) == (user_agent(), '"0"')
    assert user_agent().startswith("qa-bot/")


def test_cookies_are_not_kept_and_redirects_are_not_followed(server: Any, client: WebClient) -> None:
    server.html("site.example/a", "<p>cats", **{"Set-Cookie": "session=1"})
    server.pages["site.example/b"] = lambda _: web.Response(status=302, headers={"Location": "/a"}, text="moved")
    client.get(server.url("site.example/a"), {}, 1000)
    reply = client.get(server.url("site.example/b"), {}, 1000)
    assert (reply.status, reply.headers["location"], reply.body) == (302, "/a", b"")
    assert [headers.get("Cookie") for _, headers in server.requests] == [None, None]


def test_proxies_of_the_environment_are_not_used(
    server: Any, client: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    server.html("site.example/a", "<p>cats")
    assert client.get(server.url("site.example/a"), {}, 1000).status == 200


@pytest.mark.parametrize("size", [50_000_000, 1001])
def test_bodies_over_the_limit(server: Any, client: WebClient, size: int) -> None:
    bomb = gzip.compress(bytes(size))
    server.pages["site.example/a"] = lambda _: web.Response(body=bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(BodyError, match="at most 1,000 bytes"):
        client.get(server.url("site.example/a"), {}, 1000)
    server.html("site.example/b", "<p>cats")
    assert client.get(server.url("site.example/b"), {}, 1000).status == 200


def test_a_server_that_breaks_off(server: Any, client: WebClient) -> None:
    def cut(request: web.Request) -> web.StreamResponse:
        assert isinstance(request.transport, asyncio.Transport)
        request.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncats")
        request.transport.close()
        return web.Response()

    server.pages["site.example/a"] = cut
    with pytest.raises(FetchError, match=r"Expected to reach site\.example"):
        client.get(server.url("site.example/a"), {}, 1000)


def test_a_server_that_does_not_answer(server: Any) -> None:
    async def silent(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    guard = Guard.of(f"site.example:{server.port}", private=False)
    with (
        WebClient(guard, resolve=silent, seconds=0.05) as client,
        pytest.raises(FetchError, match=r"an answer of site\.example within 0\.05 s"),
    ):
        client.get(server.url("site.example/a"), {}, 1000)


def test_a_name_with_an_address_inside_is_refused_before_a_connection(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qa_bot.documents.websites.fetching.guard.PORTS", {server.port})
    with (
        WebClient(Guard(), resolve=server.resolve) as client,
        pytest.raises(RefusedError, match="a loopback address"),
    ):
        client.get(server.url("site.example/a"), {}, 1000)
    assert (server.lookups, server.requests) == (["site.example"], [])


def test_a_name_server_that_changes_its_answer(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look-up gives an address of the test's choice, the second one loopback.

    The connection goes to the first result, which was checked, without another look-up.
    """
    monkeypatch.setattr("qa_bot.documents.websites.fetching.guard.PORTS", {server.port})
    monkeypatch.setattr(
        "qa_bot.documents.websites.fetching.guard.special_kind",
        lambda address: "" if address == "127.0.0.2" else "a loopback address",
    )
    server.addresses["rebound.example"] = [["127.0.0.2"], ["127.0.0.1"]]
    server.html("rebound.example/a", "<p>secret")
    with WebClient(Guard(), resolve=server.resolve, seconds=5) as client:
        with pytest.raises(FetchError, match="Expected to reach"):  # nothing listens at 127.0.0.2
            client.get(server.url("rebound.example/a"), {}, 1000)
        assert server.lookups == ["rebound.example"]
        with pytest.raises(RefusedError, match=r"got 127\.0\.0\.1, a loopback address"):
            client.get(server.url("rebound.example/a"), {}, 1000)
    assert server.requests == []


def test_a_name_with_a_public_and_a_private_address(server: Any) -> None:
    server.addresses["both.example"] = [["93.184.216.34", "127.0.0.1"]]
    with WebClient(Guard(), resolve=server.resolve) as client, pytest.raises(RefusedError):
        client.get(server.url("both.example/a").with_port(None), {}, 1000)


def test_a_name_without_addresses(server: Any, client: WebClient) -> None:
    server.addresses["site.example"] = [[]]
    with pytest.raises(FetchError, match=r"Expected to reach site\.example"):
        client.get(server.url("site.example/a"), {}, 1000)


def test_addresses_by_the_operating_system() -> None:
    assert "127.0.0.1" in asyncio.run(system_addresses("127.0.0.1", 80))
