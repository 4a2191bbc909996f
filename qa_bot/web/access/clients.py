"""The client of a request: its address, also behind proxies that the configuration names."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator, Sequence

from aiohttp import web

from qa_bot.home.config import ConfigError
from qa_bot.web.access.addresses import without_zone
from qa_bot.web.errors import ServiceError

log = logging.getLogger(__name__)

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
FORWARDED = "X-Forwarded-For"
HOPS = 20
"""Limit of the addresses in `X-Forwarded-For`."""


class Proxies:
    """The proxies in front of the service; only they may say for whom they ask."""

    def __init__(self, text: str) -> None:
        """From addresses and networks with commas between; raises ConfigError."""
        self._warned = False
        self._networks = [_network(part.strip()) for part in text.split(",") if part.strip()]

    def client_address(self, request: web.Request) -> str:
        """Address of the client; for IPv6 its /64 network, in which a client has countless addresses.

        Behind proxies it is the last address in `X-Forwarded-For` that is not a proxy's: the addresses before it are
        the client's own words.
        """
        peer = _peer(request)
        if not isinstance(peer, IPAddress):
            return peer
        for hop in self._hops(request, peer):
            peer = hop
            if not self._trusts(hop):
                break
        return str(ipaddress.ip_network((peer, 64), strict=False) if peer.version == 6 else peer)

    def check(self, request: web.Request) -> None:
        """Raise ServiceError 400 if a proxy sends a malformed `X-Forwarded-For`; anyone else's is ignored."""
        if FORWARDED not in request.headers:
            return
        peer = _peer(request)
        if not isinstance(peer, IPAddress) or not self._trusts(peer):
            self._warn_of(peer)
            return
        list(self._hops(request, peer))

    def is_encrypted(self, request: web.Request) -> bool:
        """Whether the client's connection is encrypted, here or at a proxy."""
        if request.secure:
            return True
        peer = _peer(request)
        if not isinstance(peer, IPAddress) or not self._trusts(peer):
            return False
        return request.headers.get("X-Forwarded-Proto", "").strip().lower() == "https"

    def _trusts(self, address: IPAddress) -> bool:
        return any(address in network for network in self._networks)

    def _warn_of(self, peer: IPAddress | str) -> None:
        """Log the first sender that is no proxy: without its name here, all clients of a proxy share its rate."""
        if not self._warned:
            self._warned = True
            log.warning("%s from %s is ignored; if that is a proxy, name it in `[serve] proxies`.", FORWARDED, peer)

    def _hops(self, request: web.Request, peer: IPAddress) -> Iterator[IPAddress]:
        """Addresses in `X-Forwarded-For`, the nearest first."""
        if not self._trusts(peer):
            return
        hops = ",".join(request.headers.getall(FORWARDED, [])).split(",")
        if len(hops) > HOPS:
            raise ServiceError(400, f"Expected at most {HOPS} addresses in {FORWARDED}, but got {len(hops)}.")
        for hop in reversed(hops):
            if text := hop.strip():
                yield _forwarded(text)


def _peer(request: web.Request) -> IPAddress | str:
    """The other end of the connection; a word if it has no address."""
    peer: object = request.transport.get_extra_info("peername") if request.transport else None
    if not isinstance(peer, Sequence) or isinstance(peer, str):
        return "local"
    try:
        return _unmapped(ipaddress.ip_address(without_zone(str(peer[0]))))
    except ValueError:
        return str(peer[0])


def _forwarded(text: str) -> IPAddress:
    """An address of `X-Forwarded-For`, which may have a port."""
    bare = text[1:].partition("]")[0] if text.startswith("[") else text
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        return _unmapped(ipaddress.ip_address(without_zone(bare)))
    except ValueError:
        raise ServiceError(400, f"Expected addresses in {FORWARDED}, but got {text[:60]!r}.") from None


def _unmapped(address: IPAddress) -> IPAddress:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ConfigError(
            f"Expected addresses or networks with commas between in [serve] proxies, but got {text!r}."
        ) from None
