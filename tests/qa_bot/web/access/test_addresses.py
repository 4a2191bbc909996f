"""Addresses to listen on."""

from __future__ import annotations

import pytest

from qa_bot.home.config import ConfigError
from qa_bot.web.access.addresses import Address, addresses, check_binding, known_hosts


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_other_machines_may_not_ask_without_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="Expected a token before listening on"):
        check_binding(host, "")
    check_binding(host, "sha256:…")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_may_ask_without_a_token(host: str) -> None:
    check_binding(host, "")


@pytest.mark.parametrize("host", ["", " ", "no such name", "256.1.1.1", "http://127.0.0.1", "x" * 300])
def test_malformed_addresses_are_rejected(host: str) -> None:
    with pytest.raises(ConfigError, match="Expected the name or address of this machine"):
        addresses(host)


def test_known_hosts_are_names_with_or_without_a_port() -> None:
    known = [Address("qa.example.com", None), Address("b.example", 8443), Address("::1", 80)]
    assert known_hosts(" qa.example.com, b.example:8443 ,[::1]:80,") == known


@pytest.mark.parametrize("name", ["https://qa.example.com", "qa.example.com:99999", "qa.example.com/x", "a@b", "a:b"])
def test_a_known_host_is_no_url(name: str) -> None:
    with pytest.raises(ConfigError, match=r"Expected host names .* in \[serve\] hosts, .* but got"):
        known_hosts(f"b.example,{name}")
