"""Who may ask: a table over every route of a running service."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp import WSMsgType
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.sections import ServeSection
from qa_bot.web.access.rules import PUBLIC_ROUTES, RATE, WRONG_TOKENS, Access
from qa_bot.web.errors import ServiceError

SECRET = "correct-horse"
RIGHT = ({"Authorization": f"Bearer {SECRET}"}, {"Authorization": f"bearer {SECRET}"}, {"X-API-Key": SECRET})
NONE = ({}, {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET}, {"Cookie": f"token={SECRET}"})
WRONG = ({"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}, {"X-API-Key": ""}, {"X-API-Key": "grün"})
FOREIGN = (
    {"Host": "evil.example"},
    {"Host": "127.0.0.1:1"},
    {"Host": "localhost.evil.example"},
    {"Host": "user@127.0.0.1"},
    {"Host": ""},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:1"},
    {"Origin": "https://127.0.0.1"},
    {"Origin": "file://"},
    {"Origin": "http://["},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
)
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}


def routes(service) -> list[tuple[str, str, str]]:
    """Method, pattern and a path that fits it, of every route of both ports."""
    return [
        (route.method, route.resource.canonical, re.sub(r"\{[^}]*\}", "some", route.resource.canonical))
        for route in service.running.app.router.routes()
    ]


def is_open(pattern: str) -> bool:
    return pattern in PUBLIC_ROUTES or pattern.startswith("/assets/")


# --- the table ------------------------------------------------------------------------------------------------------


def test_every_route_wants_the_token_but_those_that_are_open(serve, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.web.access.rules.WRONG_TOKENS", 1_000_000)
    service = serve(token=SECRET)
    table = routes(service)
    assert {pattern for _, pattern, _ in table} >= {"/", "/livez", "/readyz", "/metrics", "/api/ask", "/liveqa"}
    for method, pattern, path in table:
        for headers in (*NONE, *WRONG):
            reply = service.request(method, path, headers=headers)
            if is_open(pattern):
                assert reply.status not in (401, 403, 429), (method, path, headers)
            else:
                assert reply.status == 401, (method, path, headers)
                assert reply.headers["WWW-Authenticate"] == "Bearer"
                assert method == "HEAD" or reply.json["error"]["code"] == "unauthorized"
        for headers in RIGHT:
            assert service.request(method, path, headers=headers).status not in (401, 403, 429), (method, path)


def test_every_route_refuses_a_foreign_host_or_origin(serve) -> None:
    """With the right token, without a token, for unknown paths, and before an upgrade."""
    for service in (serve(warm=False), serve(token=SECRET, warm=False)):
        for method, _, path in [*routes(service), ("GET", "", "/nothing"), ("PUT", "", "/api/ask")]:
            for headers in FOREIGN:
                extra = UPGRADE if path == "/ws" else {}
                reply = service.request(method, path, headers={**RIGHT[0], **extra, **headers})
                assert reply.status == 403, (method, path, headers)
                assert method == "HEAD" or reply.json["error"]["code"] == "forbidden"


def test_the_liveqa_port_has_the_same_rules(serve) -> None:
    service = serve(token=SECRET, liveqa=True)
    for path in ("/", "/liveqa", "/livez", "/nothing"):
        assert service.get(path, base=service.liveqa_url).status == 401
        assert service.get(path, base=service.liveqa_url, headers={**RIGHT[0], "Host": "evil"}).status == 403
    form = {"qid": "1", "title": "Why do cats sleep all day?"}
    assert service.post("/", base=service.liveqa_url, data=form).status == 401
    assert service.post("/", base=service.liveqa_url, data=form, params={"token": SECRET}).status == 200
    assert service.post("/liveqa", data=form, params={"token": SECRET}).status == 200
    assert service.post("/liveqa", data=form, params={"token": "wrong"}).status == 401
    assert service.get("/metrics", params={"token": SECRET}).status == 401, "only LiveQA clients may send it so"


def test_the_service_s_own_names_and_origins_are_welcome(service) -> None:
    port = service.running.settings.port
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        host = f"{name}:{port}"
        for origin in ({}, {"Origin": f"http://{host}"}, {"Origin": f"https://{host}"}):
            assert service.get("/metrics", headers={"Host": host, **origin}).status == 200, (name, origin)
    assert service.get("/metrics", headers={"Sec-Fetch-Site": "same-origin"}).status == 200
    assert service.get("/metrics", headers={"Sec-Fetch-Site": "none"}).status == 200


def test_a_link_of_another_site_opens_the_page_only(service) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert service.get("/", headers=followed).status == 200
    assert service.get("/liveqa?title=cats", headers=followed).status == 403
    assert service.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403


def test_two_hosts_in_one_request_are_one_too_many(service) -> None:
    import socket

    port = service.running.settings.port
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(f"GET /livez HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil\r\n\r\n".encode())
        assert raw.recv(100).split()[1] in (b"400", b"403")
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
        assert raw.recv(100).split()[1] == b"403"


@pytest.mark.parametrize(
    ("hosts", "host", "origin", "status"),
    [
        ("ask.example", "ask.example", None, 200),
        ("ask.example", "ask.example", "https://ask.example", 200),  # a proxy that speaks TLS
        ("ask.example", "ask.example:8443", "https://ask.example:8443", 200),
        ("ask.example", "ASK.example", "https://ask.example:443", 200),
        ("ask.example", "127.0.0.1:{port}", "https://ask.example", 200),  # a proxy that puts its own Host
        ("ask.example", "ask.example", "https://ask.example:444", 403),
        ("ask.example", "ask.example", "https://other.example", 403),
        ("ask.example", "other.example", None, 403),
        ("ask.example:8443, b.example", "ask.example:8443", None, 200),
        ("ask.example:8443, b.example", "ask.example", None, 403),
        ("ask.example:8443, b.example", "b.example", "http://b.example", 200),
    ],
)
def test_further_names_are_known_when_configured(serve, hosts, host, origin, status) -> None:
    service = serve(hosts=hosts, warm=False)
    headers = {"Host": host.format(port=service.running.settings.port)}
    headers |= {"Origin": origin} if origin else {}
    assert service.get("/metrics", headers=headers).status == status


def test_on_all_addresses_the_called_one_is_accepted(serve) -> None:
    service = serve(host="0.0.0.0", token=SECRET, warm=False)
    port = service.running.settings.port
    for host, status in ((f"127.0.0.1:{port}", 200), (f"localhost:{port}", 200), (f"10.9.8.7:{port}", 403)):
        headers = {"Host": host, **RIGHT[0]}
        assert service.get("/metrics", base=f"http://127.0.0.1:{port}", headers=headers).status == status
    headers = {"Host": f"127.0.0.9:{port}", **RIGHT[0]}
    assert service.get("/metrics", base=f"http://127.0.0.9:{port}", headers=headers).status == 200


# --- the token ------------------------------------------------------------------------------------------------------


@given(st.text())
def test_only_the_token_opens_the_door(text: str) -> None:
    access = Access(ServeSection(token=SECRET))
    assert access.allows(text) == (text == SECRET)
    assert not access.allows(None)
    assert Access(ServeSection()).allows(text)
    assert Access(ServeSection()).allows(None)


def test_lone_surrogates_are_no_token() -> None:
    assert not Access(ServeSection(token=SECRET)).allows("\ud800\udc00\udfff")


def test_many_wrong_tokens_get_429_and_never_lock_the_right_one_out(serve) -> None:
    service = serve(token=SECRET)
    for number in range(WRONG_TOKENS):
        assert service.get("/metrics", headers={"X-API-Key": f"wrong {number}"}).status == 401
    for headers in WRONG[:2]:
        reply = service.get("/metrics", headers=headers)
        assert reply.status == 429
        assert 1 <= int(reply.headers["Retry-After"]) <= 60 / WRONG_TOKENS + 1
    for headers in RIGHT:
        assert service.get("/metrics", headers=headers).status == 200
    assert service.get("/metrics").status == 401, "to send none is no guess"
    assert service.get("/").status == 200


def test_a_wrong_token_in_a_frame_does_not_lock_the_right_one_out(serve, talk) -> None:
    service = serve(token=SECRET)

    async def code(token: str) -> int | None:
        async with talk(service) as client:
            await client.say("hello", token=token)
            await client.say("ping")
            first = await client.socket.receive(timeout=30)
            return client.socket.close_code if first.type is not WSMsgType.TEXT else 0

    assert [service.run(code("wrong")) for _ in range(WRONG_TOKENS + 2)] == [1008] * (WRONG_TOKENS + 2)
    assert service.run(code(SECRET)) == 0


def test_wrong_tokens_are_counted_by_address_behind_a_proxy(serve) -> None:
    service = serve(token=SECRET, proxies="127.0.0.1", warm=False)

    def status(number: int, address: str, token: str) -> int:
        headers = {"X-Forwarded-For": address, "X-API-Key": token.format(number)}
        return service.get("/metrics", headers=headers).status

    assert [status(i, "198.51.100.1", "wrong {}") for i in range(WRONG_TOKENS)] == [401] * WRONG_TOKENS
    assert status(0, "198.51.100.1", "another") == 429
    assert status(0, "198.51.100.2", "another") == 401, "another client of the proxy"
    assert status(0, "198.51.100.1", SECRET) == 200
    same = [status(i, f"203.0.113.{i}", "one") for i in range(WRONG_TOKENS + 1)]
    assert same == [401] * WRONG_TOKENS + [429], "one wrong token from many addresses"


def test_who_is_no_proxy_has_one_rate_whatever_clients_it_names(serve) -> None:
    service = serve(rate=3, warm=False)
    replies = [service.get("/metrics", headers={"X-Forwarded-For": f"198.51.100.{i}"}) for i in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]


# --- rates ----------------------------------------------------------------------------------------------------------


def test_who_comes_too_often_waits(serve) -> None:
    service = serve(rate=3, warm=False)
    assert [service.get("/metrics").status for _ in range(5)] == [200, 200, 200, 429, 429]
    reply = service.get("/metrics")
    assert reply.json["error"]["code"] == "too_many_requests"
    assert 1 <= int(reply.headers["Retry-After"]) <= 20
    assert [service.get("/livez").status for _ in range(9)] == [200] * 9, "probes may come as often as they like"
    assert 'qa_bot_shed_total{reason="rate"} 3.0' in service.metrics.text().decode()


def test_a_key_has_a_separate_rate(serve) -> None:
    service = serve(rate=2, token=SECRET, warm=False)
    assert [service.get("/").status for _ in range(3)] == [200, 200, 429]
    keyed: dict[str, Any] = {"headers": RIGHT[0]}
    assert [service.get("/metrics", **keyed).status for _ in range(3)] == [200, 200, 429]


def test_one_client_with_the_token_does_not_use_up_the_rate_of_others(serve) -> None:
    service = serve(rate=2, token=SECRET, proxies="127.0.0.1", warm=False)

    def status(address: str) -> int:
        return service.get("/metrics", headers={**RIGHT[0], "X-Forwarded-For": address}).status

    assert [status("198.51.100.1") for _ in range(3)] == [200, 200, 429]
    assert status("198.51.100.2") == 200


def test_requests_without_a_token_count_towards_the_rate_of_their_address(serve) -> None:
    service = serve(rate=2, token=SECRET, warm=False)
    assert [service.get("/metrics").status for _ in range(3)] == [401, 401, 429]
    assert service.get("/metrics", headers=RIGHT[0]).status == 200


@pytest.mark.parametrize(
    ("host", "rate", "limit"), [("127.0.0.1", -1, None), ("0.0.0.0", -1, RATE), ("0.0.0.0", 0, None), ("::1", 3, 3)]
)
def test_rates_are_limited_by_default_if_other_machines_can_connect(host: str, rate: int, limit: int | None) -> None:
    access = Access(ServeSection(host=host, rate=rate), clock=lambda: 0.0)
    transport = Mock(get_extra_info=lambda name, default=None: ("192.0.2.7", 1) if name == "peername" else None)
    request = make_mocked_request("GET", "/", transport=transport)
    for _ in range(limit or RATE + 1):
        access.spend(request)
    if limit is None:
        return
    with pytest.raises(ServiceError, match="Too many requests") as refused:
        access.spend(request)
    assert refused.value.status == 429
