"""Addresses that may be shown as links."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f-\x9f\u202a-\u202e\u2066-\u2069]+", re.IGNORECASE)


def web_address(url: str) -> str:
    """The address if it is one of http, https or mailto, else "": a link to anything else could run a script."""
    return url if not url or _ADDRESS.fullmatch(url) else ""
