"""Release notes: sections that a version and its date head, as “2.4.1 (May 3, 2024)” or “[1.0] - 2023-11-02”.

They say what a version changed. How the product works now stands elsewhere, mostly in the same words, so they lose
`HISTORY` of their evidence, unless the question names the version.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

HISTORY = 0.3
"""Penalty of a passage of release notes."""
WANTED = 1.0
"""Bonus of one about the version that the question names."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_DATE = (
    r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|"
    r"(?:\d{1,2}(?:st|nd|rd|th)?\.?\s+)?[^\W\d]{3,9}\.?\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?\d{4})"
)
_DATED_VERSION = re.compile(
    rf"(?:[^\W\d][\w.+-]{{0,30}}\s+){{0,3}}[\[(]?v?(\d+(?:\.\d+)+)(?:[-.+]?[a-z]+[\d.]*)?[\])]?\s*[(\[:,—–-]\s*{_DATE}\W*",
    re.IGNORECASE,
)


def versions_in(text: str) -> frozenset[str]:
    """The numbers of versions in a text: "2.4" and "1.0.3"."""
    return frozenset(_VERSION.findall(text))


def release_bonus(headings: Iterable[str], versions: Collection[str] = ()) -> float:
    """What a passage below these headings gains if they name one of the versions, or loses if they name another."""
    numbers = [match[1] for heading in headings if (match := _DATED_VERSION.fullmatch(heading.strip()))]
    if not numbers:
        return 0.0
    is_wanted = any(f"{number}.".startswith(f"{version}.") for number in numbers for version in versions)
    return WANTED if is_wanted else -HISTORY
