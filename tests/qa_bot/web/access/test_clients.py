"""Addresses of clients, also behind proxies."""

from __future__ import annotations

from contextlib import suppress
from unittest.mock import Mock

import pytest
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.config import ConfigError
from qa_bot.web.access.clients import HOPS, Proxies
from qa_bot.web.errors import ServiceError


def request(peer: object = ("192.0.2.7", 50_000), **headers: str):
    transport = Mock(get_extra_info=lambda name, default=None: peer if name == "peername" else None)
    return make_mocked_request(
        "GET", "/", headers={name.replace("_", "-"): value for name, value in headers.items()}, transport=transport
    )


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
    assert Proxies("").client_address(request(peer)) == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("[2001:db8:1:3::1]:4711", "2001:db8:1:3::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("203.0.113.9, 198.51.100.1", "198.51.100.1"),  # the first is the client's own word
        ("203.0.113.9, 198.51.100.1, 10.0.0.8", "198.51.100.1"),
        ("10.0.0.9, 10.0.0.8", "10.0.0.9"),
        (" , 198.51.100.1 ,", "198.51.100.1"),
        ("", "192.0.2.7"),
    ],
)
def test_behind_proxies_the_last_foreign_address_is_the_client(forwarded: str, address: str) -> None:
    proxies = Proxies("192.0.2.7, 10.0.0.0/8")
    incoming = request(X_Forwarded_For=forwarded)
    proxies.check(incoming)
    assert proxies.client_address(incoming) == address


@pytest.mark.parametrize("peer", [("198.51.100.1", 1), ("2001:db8::1", 1, 0, 0), "/run/qa-bot.sock", None])
def test_what_others_say_of_whom_they_ask_for_is_ignored(peer: object, caplog: pytest.LogCaptureFixture) -> None:
    proxies = Proxies("192.0.2.7")
    incoming = request(peer, X_Forwarded_For="203.0.113.9")
    proxies.check(incoming)
    proxies.check(incoming)
    (warning,) = caplog.messages
    assert warning.endswith("is ignored; if that is a proxy, name it in `[serve] proxies`.")
    assert proxies.client_address(incoming) == Proxies("").client_address(request(peer))


@pytest.mark.parametrize("forwarded", ["unknown", "1.2.3", "_hidden", "<script>", ", ".join(["10.0.0.1"] * (HOPS + 1))])
def test_malformed_addresses_are_refused(forwarded: str) -> None:
    with pytest.raises(ServiceError, match="X-Forwarded-For") as refused:
        Proxies("192.0.2.7").check(request(X_Forwarded_For=forwarded))
    assert refused.value.status == 400


@given(st.text())
def test_any_text_is_an_address_or_refused(forwarded: str) -> None:
    incoming = request(X_Forwarded_For=forwarded)
    with suppress(ServiceError):
        Proxies("192.0.2.7").check(incoming)
        assert Proxies("192.0.2.7").client_address(incoming)


@pytest.mark.parametrize(
    ("peer", "protocol", "encrypted"),
    [("192.0.2.7", "https", True), ("192.0.2.7", "http", False), ("192.0.2.8", "https", False)],
)
def test_a_proxy_says_whether_the_connection_is_encrypted(peer: str, protocol: str, encrypted: bool) -> None:
    assert Proxies("192.0.2.7").is_encrypted(request((peer, 1), X_Forwarded_Proto=protocol)) is encrypted


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.0/33", "10.0.0.1;10.0.0.2"])
def test_malformed_proxies_are_told(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Expected addresses or networks .* \[serve\] proxies"):
        Proxies(text)
