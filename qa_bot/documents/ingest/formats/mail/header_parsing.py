"""Headers of mails, parsed in bounded time and without errors.

The library's parser takes quadratic time for some headers, and raises nearly everything on a broken one.
"""

from __future__ import annotations

from contextlib import suppress
from email.header import decode_header, make_header
from email.policy import EmailPolicy
from functools import lru_cache
from typing import Any

MOST_PARSED = 1_000
"""Characters of a header up to which its addresses and parameters are parsed; a longer one is decoded as text."""
MOST_KEPT = 10_000
"""Characters of a header that are kept."""


class TolerantPolicy(EmailPolicy):
    """The library's policy; a header that cannot be parsed, or is long, is its text."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """The parsed header, or a text."""
        return _parsed(name, value[:MOST_KEPT])


TOLERANT = TolerantPolicy()
_LIBRARY = EmailPolicy()


@lru_cache(maxsize=16)  # the library asks for the type of a part again and again
def _parsed(name: str, value: str) -> Any:
    if len(value) <= MOST_PARSED:
        with suppress(Exception):
            return _LIBRARY.header_fetch_parse(name, value)
    text = "".join(value.splitlines())
    with suppress(Exception):
        return str(make_header(decode_header(text)))
    return text
