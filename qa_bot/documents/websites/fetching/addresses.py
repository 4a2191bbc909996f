"""Which IP addresses belong to the public internet, by IANA's registries of special-purpose addresses (RFC 6890)."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

PRIVATE = "a private address"
METADATA = "an address of a cloud's metadata service"

_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",  # most clouds
        "169.254.170.2",  # containers at Amazon
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure: in public space, but answered by the host
        "192.0.0.192",  # Oracle
        "fd00:ec2::254",  # Amazon
        "fd20:ce::254",  # Google
    )
)
_IPV4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "an address of this network"),
        ("10.0.0.0/8", PRIVATE),
        ("100.64.0.0/10", PRIVATE),  # carrier-grade NAT
        ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", PRIVATE),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "a reserved address"),  # documentation
        ("192.88.99.0/24", "a reserved address"),  # relays of 6to4
        ("192.168.0.0/16", PRIVATE),
        ("198.18.0.0/15", "a reserved address"),  # benchmarks
        ("198.51.100.0/24", "a reserved address"),
        ("203.0.113.0/24", "a reserved address"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_IPV6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::1/128", "a loopback address"),
        ("fc00::/7", PRIVATE),
        ("fe80::/10", "a link-local address"),
        ("ff00::/8", "a multicast address"),
        ("2001::/32", "an address of a Teredo tunnel"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "a reserved address"),
        ("2002::/16", "an address of a 6to4 tunnel"),
        ("3fff::/20", "a reserved address"),
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = 0x5EFE  # in the middle of the interface's half (RFC 5214)


def special_kind(text: str) -> str:
    """What kind of special address this is, such as “a loopback address”; empty for a public one.

    An IPv4 address within an IPv6 one counts: mapped ones and NAT64's are public if it is; tunnels are never public.

    Raises ValueError if the text is not an address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if address in _METADATA_ADDRESSES:
        return METADATA
    return _kind_of_4(address) if isinstance(address, IPv4Address) else _kind_of_6(address)


def _kind_of_4(address: IPv4Address) -> str:
    return next((kind for network, kind in _IPV4 if address in network), "")


def _kind_of_6(address: IPv6Address) -> str:
    if address in _MAPPED or address in _NAT64:
        return special_kind(str(IPv4Address(int(address) & 0xFFFFFFFF)))
    if kind := next((kind for network, kind in _IPV6 if address in network), ""):
        return kind
    if (int(address) >> 32) & 0xFDFFFFFF == _ISATAP:
        return "an address of an ISATAP tunnel"
    return "" if address in _GLOBAL_UNICAST else "a reserved address"
