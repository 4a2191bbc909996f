"""Headers of every route × method × credential."""

from __future__ import annotations

import re

import pytest

from qa_bot.web.access.headers import HEADERS, TRANSPORT

SECRET = "correct-horse"
CREDENTIALS = ({}, {"X-API-Key": "wrong"}, {"X-API-Key": SECRET}, {"X-API-Key": SECRET, "Host": "evil.example"})
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
PAGES = ("/", "/owner")


@pytest.fixture
def service(serve, monkeypatch):
    monkeypatch.setattr("qa_bot.web.access.rules.WRONG_TOKENS", 1_000_000)
    return serve(token=SECRET, warm=False)


def paths(service) -> list[str]:
    patterns = {route.resource.canonical for route in service.running.app.router.routes()}
    return sorted({re.sub(r"\{[^}]*\}", "some", pattern) for pattern in patterns} | {"/nothing"})


def test_every_reply_binds_the_browser_and_names_no_software(service) -> None:
    for path in paths(service):
        for method in METHODS:
            for credential in CREDENTIALS:
                reply = service.request(method, path, headers=credential)
                what = (method, path, credential, reply.status)
                policy = reply.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'none'"), what
                assert "frame-ancestors 'none'" in policy, what
                assert ("nonce-" in policy) == (path in PAGES and reply.status == 200), what
                for name in HEADERS.keys() - {"Content-Security-Policy", "Cache-Control"}:
                    assert reply.headers[name] == HEADERS[name], (name, *what)
                assert reply.headers["Cache-Control"] == "no-store", what
                assert reply.headers["Server"] == "qa-bot", what
                assert "Strict-Transport-Security" not in reply.headers, what
                assert "Access-Control-Allow-Origin" not in reply.headers, what
                assert SECRET.encode() not in reply.body, what


def test_the_liveqa_port_has_the_same_headers(serve) -> None:
    service = serve(token=SECRET, liveqa=True, warm=False)
    for method, path, credential in (("GET", "/", {}), ("POST", "/liveqa", CREDENTIALS[2]), ("PUT", "/nothing", {})):
        reply = service.request(method, path, base=service.liveqa_url, headers=credential)
        assert {name: reply.headers[name] for name in HEADERS} == HEADERS
        assert reply.headers["Server"] == "qa-bot"


def test_over_tls_at_a_proxy_browsers_stay_with_tls(serve) -> None:
    service = serve(proxies="127.0.0.1", warm=False)
    for path in ("/", "/livez", "/nothing"):
        headers = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
        assert service.get(path, headers=headers).headers["Strict-Transport-Security"] == TRANSPORT
        plain = {**headers, "X-Forwarded-Proto": "http"}
        assert "Strict-Transport-Security" not in service.get(path, headers=plain).headers


def test_who_is_no_proxy_cannot_switch_tls_on(serve) -> None:
    reply = serve(warm=False).get("/livez", headers={"X-Forwarded-Proto": "https"})
    assert "Strict-Transport-Security" not in reply.headers
