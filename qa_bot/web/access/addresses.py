"""Names and addresses of the service: what it listens on, and what a `Host` may be."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from aiohttp import web

from qa_bot.home.config import ConfigError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class Address(NamedTuple):
    """As in `Host: name:port`; the port is None if it is missing."""

    name: str
    port: int | None


def check_binding(host: str, token: str) -> None:
    """Raise ConfigError if other machines could connect and there is no token."""
    if token or is_loopback(host):
        return
    raise ConfigError(
        f"Expected a token before listening on {host}, where other machines can connect, but got none; "
        f"set `[serve] token` (or QA_BOT_TOKEN), or listen on 127.0.0.1."
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to a service that listens on `host`."""
    return all(ipaddress.ip_address(address).is_loopback for address in addresses(host))


def addresses(host: str) -> list[str]:
    """Distinct addresses of a host name to listen on; raises ConfigError if it does not resolve."""
    try:
        if not host.strip():
            raise OSError("an empty name")
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"Expected the name or address of this machine to listen on, but got {host!r} ({error}); "
            "127.0.0.1 is for this machine alone, 0.0.0.0 for all."
        ) from None
    return list(dict.fromkeys(without_zone(str(entry[4][0])) for entry in entries))


def own_names(host: str) -> frozenset[str]:
    """Names of a service that listens on `host`."""
    numbers = [ipaddress.ip_address(address) for address in addresses(host)]
    local = any(number.is_loopback or number.is_unspecified for number in numbers)
    return frozenset({plain(host), *map(str, numbers), *(LOOPBACK_NAMES if local else ())})


def local_address(request: web.Request) -> str:
    """The local address of the connection, which no foreign name can change."""
    address = request.transport.get_extra_info("sockname") if request.transport else None
    return plain(str(address[0])) if isinstance(address, tuple) else ""


def parse_address(text: str) -> Address:
    """Parse `name`, `name:port` or `[v6]:port`; raises ValueError for anything else."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.netloc != text or "@" in text:
        raise ValueError(text)
    return Address(plain(parts.hostname), parts.port)


def known_hosts(text: str) -> list[Address]:
    """The names in `[serve] hosts`, with commas between; raises ConfigError."""
    return [_known_host(part.strip()) for part in text.split(",") if part.strip()]


def _known_host(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError:
        raise ConfigError(
            "Expected host names such as qa.example.com or qa.example.com:8443 in [serve] hosts, "
            f"with commas between, but got {text!r}."
        ) from None


def plain(name: str) -> str:
    """Canonical spelling of a name or address."""
    name = without_zone(name.lower().strip("[]"))
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name


def without_zone(address: str) -> str:
    return address.partition("%")[0]
