"""Refusals of the guard, and the settings that lift them."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.fetching.errors import RefusedError
from qa_bot.documents.websites.fetching.guard import Guard
from qa_bot.documents.websites.urls import parse_url


def refusal(url: str, guard: Guard | None = None) -> str:
    with pytest.raises(RefusedError) as caught:
        (guard or Guard()).check_url(parse_url(url))
    return str(caught.value)


@pytest.mark.parametrize("url", ["https://docs.example.org/", "http://93.184.216.34/", "https://[2606:4700::1]/"])
def test_public_pages(url: str) -> None:
    Guard().check_url(parse_url(url))


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "127.0.1",
        "0",
        "x.0x1",
    ],
)
def test_numbers_that_are_not_written_as_addresses(host: str) -> None:
    assert "as host" in refusal(f"http://{host}/")


def test_wide_digits_are_digits() -> None:
    assert "a loopback address" in refusal("http://１２７.0.0.1/")


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://10.0.0.1/"])
def test_addresses_that_are_not_public(url: str) -> None:
    assert "name it in the setting web.allow" in refusal(url)


def test_other_ports_are_refused_unless_named() -> None:
    assert "port 80 or 443, but got 8080 of docs.example.org" in refusal("http://docs.example.org:8080/")
    assert "but got 6379" in refusal("http://docs.example.org:6379/", Guard.of("docs.example.org:8080", private=True))
    Guard.of("docs.example.org:8080", private=False).check_url(parse_url("http://docs.example.org:8080/"))
    assert "but got 8080" in refusal("http://docs.example.org:8080/", Guard.of("docs.example.org", private=False))


def test_all_addresses_of_a_host_must_be_public() -> None:
    Guard().check_addresses("docs.example.org", 443, ["93.184.216.34", "2606:4700::1"])
    with pytest.raises(RefusedError, match=r"a public address of docs.example.org, but got 10\.0\.0\.1, a private"):
        Guard().check_addresses("docs.example.org", 443, ["93.184.216.34", "10.0.0.1"])


def test_private_lifts_private_addresses_only() -> None:
    guard = Guard.of("", private=True)
    guard.check_addresses("wiki.example", 443, ["10.0.0.1", "fd12::1", "100.64.1.1"])
    for address in ("127.0.0.1", "169.254.1.1", "169.254.169.254", "fd00:ec2::254", "::1"):
        with pytest.raises(RefusedError):
            guard.check_addresses("wiki.example", 443, [address])


def test_named_hosts_are_allowed_whatever_their_addresses() -> None:
    guard = Guard.of(" Wiki.Example , [::1], 10.0.0.1:8080,,", private=False)
    guard.check_addresses("WIKI.example.", 80, ["127.0.0.1"])
    guard.check_url(parse_url("http://[::1]/"))
    guard.check_url(parse_url("http://10.0.0.1:8080/"))
    refusal("http://10.0.0.1/", guard)
    with pytest.raises(RefusedError):
        guard.check_addresses("other.wiki.example", 80, ["127.0.0.1"])
