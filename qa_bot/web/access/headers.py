"""Headers of every reply: what a browser may do with it, and nothing about the software."""

from __future__ import annotations

from collections.abc import MutableMapping

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Defaults; a page has its own policy, its files their own caching."""
TRANSPORT = "max-age=31536000"
"""HSTS of a year, sent over TLS only."""
SERVER = "qa-bot"
"""Names no version and no library."""


def add_headers(headers: MutableMapping[str, str], *, secure: bool) -> None:
    """Add what is missing, with HSTS if the client's connection is encrypted."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if secure:
        headers["Strict-Transport-Security"] = TRANSPORT
    headers["Server"] = SERVER
