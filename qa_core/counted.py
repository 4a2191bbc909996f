"""Numbers of things in messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 page`, `2 pages`, `1,000 pages`; the plural has an s at the end of the noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
