"""Special-purpose addresses, by the examples of IANA's registries."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.fetching.addresses import METADATA, PRIVATE, special_kind


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "172.15.255.255",
        "172.32.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ],
)
def test_public_addresses(address: str) -> None:
    assert special_kind(address) == ""


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.0.0.0", "an address of this network"),
        ("10.1.2.3", PRIVATE),
        ("172.16.0.1", PRIVATE),
        ("172.31.255.255", PRIVATE),
        ("192.168.1.1", PRIVATE),
        ("100.64.0.1", PRIVATE),
        ("127.0.0.1", "a loopback address"),
        ("127.255.255.254", "a loopback address"),
        ("169.254.1.1", "a link-local address"),
        ("169.254.169.254", METADATA),
        ("100.100.100.200", METADATA),
        ("168.63.129.16", METADATA),
        ("fd00:ec2::254", METADATA),
        ("192.0.2.7", "a reserved address"),
        ("198.18.0.1", "a reserved address"),
        ("224.0.0.251", "a multicast address"),
        ("255.255.255.255", "a reserved address"),
        ("240.0.0.1", "a reserved address"),
        ("::", "a reserved address"),
        ("::1", "a loopback address"),
        ("fe80::1", "a link-local address"),
        ("fe80::1%eth0", "a link-local address"),
        ("fec0::1", "a reserved address"),
        ("fc00::1", PRIVATE),
        ("ff02::1", "a multicast address"),
        ("2001:db8::1", "a reserved address"),
    ],
)
def test_special_addresses(address: str, kind: str) -> None:
    assert special_kind(address) == kind


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("::ffff:127.0.0.1", "a loopback address"),
        ("::ffff:a9fe:a9fe", METADATA),
        ("::127.0.0.1", "a reserved address"),  # compatible, deprecated
        ("64:ff9b::7f00:1", "a loopback address"),
        ("64:ff9b::a00:1", PRIVATE),
        ("64:ff9b:1::a00:1", "a reserved address"),
        ("2002:7f00:1::", "an address of a 6to4 tunnel"),
        ("2002:808:808::1", "an address of a 6to4 tunnel"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "an address of a Teredo tunnel"),
        ("2a00:1450::5efe:7f00:1", "an address of an ISATAP tunnel"),
        ("2a00:1450::200:5efe:7f00:1", "an address of an ISATAP tunnel"),
    ],
)
def test_ipv4_addresses_within_ipv6_ones(address: str, kind: str) -> None:
    assert special_kind(address) == kind


def test_a_name_is_not_an_address() -> None:
    with pytest.raises(ValueError, match="localhost"):
        special_kind("localhost")
