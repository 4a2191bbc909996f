"""Who may ask: worked numbers for rates, and a table over every route of a running service."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.config import ConfigError
from qa_bot.home.sections import ServeSection
from qa_bot.web.access import (
    PUBLIC_ROUTES,
    WRONG_TOKENS,
    Access,
    TokenBuckets,
    addresses,
    check_binding,
    client_address,
    token_for,
)

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
    monkeypatch.setattr("qa_bot.web.access.WRONG_TOKENS", 1_000_000)
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


def test_many_wrong_tokens_close_the_door_for_a_while(serve) -> None:
    """Also for the right one: who may guess on would find it."""
    service = serve(token=SECRET)
    for _ in range(WRONG_TOKENS):
        assert service.get("/metrics", headers=WRONG[0]).status == 401
    for headers in (WRONG[0], WRONG[1], RIGHT[0]):
        reply = service.get("/metrics", headers=headers)
        assert reply.status == 429
        assert 1 <= int(reply.headers["Retry-After"]) <= 60 / WRONG_TOKENS + 1
    assert service.get("/metrics").status == 401, "to send none is no guess"
    assert service.get("/").status == 200


def test_the_token_may_stand_in_a_file_of_one_s_own(tmp_path: Path) -> None:
    file, settings = tmp_path / "token", ServeSection()
    assert token_for(tmp_path, settings) == ""
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    assert token_for(tmp_path, settings) == SECRET
    file.chmod(0o400)
    assert token_for(tmp_path, settings) == SECRET
    assert token_for(tmp_path, replace(settings, token="configured")) == "configured"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o602])
def test_a_token_that_others_could_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=rf"got mode 0?{mode:o}; run `chmod 600 {re.escape(str(file))}`"):
        token_for(tmp_path, ServeSection())


@pytest.mark.parametrize(
    ("content", "got"), [(b"", "empty"), (b" \n", "empty"), (b"two words", "spaces"), (b"gr\xc3\xbcn", "beyond ASCII")]
)
def test_a_token_that_no_header_carries_is_refused(tmp_path: Path, content: bytes, got: str) -> None:
    (tmp_path / "token").write_bytes(content)
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(ConfigError, match=got):
        token_for(tmp_path, ServeSection())


def test_a_token_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(ConfigError, match="Expected to read the token"):
        token_for(tmp_path, ServeSection())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_other_machines_may_not_ask_without_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="Expected a token before listening on"):
        check_binding(host, "")
    check_binding(host, SECRET)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_may_ask_without_a_token(host: str) -> None:
    check_binding(host, "")


@pytest.mark.parametrize("host", ["", " ", "no such name", "256.1.1.1", "http://127.0.0.1", "x" * 300])
def test_malformed_addresses_are_rejected(host: str) -> None:
    with pytest.raises(ConfigError, match="Expected the name or address of this machine"):
        addresses(host)


# --- addresses of clients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        (("192.0.2.7", 50_000), "192.0.2.7"),
        (("2001:db8:1:3:4:5:6:7", 50_000, 0, 0), "2001:db8:1:3::/64"),
        (("::ffff:192.0.2.7", 50_000, 0, 0), "192.0.2.7"),
        (("fe80::1%eth0", 50_000, 0, 2), "fe80::/64"),
        (("no number", 50_000), "no number"),
        ("/run/qa-bot.sock", "local"),
        (None, "local"),
    ],
)
def test_a_client_is_known_by_its_address_or_network(peer: object, address: str) -> None:
    transport = Mock(get_extra_info={"peername": peer}.get)
    assert client_address(make_mocked_request("GET", "/", transport=transport)) == address


# --- rates ----------------------------------------------------------------------------------------------------------


def test_a_bucket_empties_and_fills() -> None:
    """Six a minute is one in ten seconds; three may come at once."""
    buckets = TokenBuckets(6, burst=3)
    for now, wait in [(0, 0), (0, 0), (0, 0), (0, 10), (4, 6), (10, 0), (10, 10), (1000, 0), (1000, 0), (1000, 0)]:
        assert buckets.wait("a", now) == pytest.approx(wait)
        buckets.take("a", now)
    assert buckets.wait("a", 1000) == pytest.approx(10), "what fills up stays at three"
    assert buckets.wait("b", 1000) == 0, "clients do not share"


def test_buckets_forget_who_came_longest_ago() -> None:
    buckets = TokenBuckets(1, burst=1, remembered=2)
    for client in ("a", "b", "a", "c"):
        buckets.take(client, 0)
    assert len(buckets) == 2
    assert [buckets.wait(client, 0) > 0 for client in ("a", "b", "c")] == [True, False, True]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 30)), max_size=80))
def test_requests_beyond_the_rate_are_rejected(visits: list[tuple[str, float]]) -> None:
    buckets, now, came = TokenBuckets(60, burst=5), 0.0, dict[str, list[float]]()
    for client, later in visits:
        now += later
        if not buckets.wait(client, now):
            came.setdefault(client, []).append(now)
        buckets.take(client, now)
    for times in came.values():
        for i, begin in enumerate(times):
            for count, end in enumerate(times[i:], start=1):
                assert count <= 5 + (end - begin) + 1e-6


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
