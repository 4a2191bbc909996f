"""Refuses requests that could reach machines inside: other schemes and ports, and addresses that are not public."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from qa_bot.documents.websites.fetching.addresses import PRIVATE, special_kind
from qa_bot.documents.websites.fetching.errors import RefusedError
from qa_bot.documents.websites.urls import URL

PORTS = frozenset({80, 443})
_LOOKS_LIKE_IPV4 = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", re.IGNORECASE)
_LIFT = "if you trust it, name it in the setting web.allow"


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks addresses before a request is sent.

    Attributes:
        allowed: hosts, and `HOST:PORT`s, that are requested whatever their addresses are.
        private: whether addresses of private networks are allowed for every host. Loopback, link-local and metadata
            addresses are not.
    """

    allowed: frozenset[str] = frozenset()
    private: bool = False

    @classmethod
    def of(cls, allow: str, *, private: bool) -> Guard:
        """From the settings: `wiki.firm.example, intranet:8080, [fd00::1]:80`."""
        return cls(frozenset(entry.strip().lower() for entry in allow.split(",") if entry.strip()), private)

    def check_url(self, url: URL) -> None:
        """Raises RefusedError if the port is not allowed, or the host is an address that is not allowed."""
        host, port = url.raw_host or "", url.port or 0
        if port not in PORTS and f"{_bracketed(host)}:{port}" not in self.allowed:
            raise RefusedError(
                f"Expected port 80 or 443, but got {port} of {host}; {_LIFT}: {_bracketed(host)}:{port}."
            )
        if _is_address(host):
            self.check_addresses(host, port, [host])
        elif _LOOKS_LIKE_IPV4.fullmatch(host):
            raise RefusedError(f"Expected a name or an address like 192.0.2.1 as host, but got {host!r}; write it so.")

    def check_addresses(self, host: str, port: int, addresses: Sequence[str]) -> None:
        """Raises RefusedError unless all addresses of a host are allowed."""
        name = _bracketed(host.lower().rstrip("."))
        if name in self.allowed or f"{name}:{port}" in self.allowed:
            return
        for address in addresses:
            kind = special_kind(address)
            if kind and not (kind == PRIVATE and self.private):
                raise RefusedError(f"Expected a public address of {host}, but got {address}, {kind}; {_LIFT}: {name}.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
