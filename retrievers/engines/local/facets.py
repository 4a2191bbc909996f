"""What filters look at."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple


class Facets(NamedTuple):
    """What filters look at: `folders` are the document's path and all folders above it, `date` is YYYYMMDD or 0."""

    collection: str = ""
    folders: Sequence[str] = ()
    date: int = 0
    language: str = ""


NO_FACETS = Facets()


def near_names(value: str, known: Sequence[str], count: int) -> tuple[str, ...]:
    """At most `count` of the known names that come near an unknown one, or else the first ones.

    Of a path these are in its deepest folder that is known; then come files of the same name elsewhere.
    """
    holder, names = value, {*known}
    while holder and holder not in names:
        holder = holder.rpartition("/")[0]
    below = f"{holder}/" if holder else ""
    beside = [name[len(below) :] for name in known if name.startswith(below) and "/" not in name[len(below) :]]
    wrong = value[len(below) :].partition("/")[0]
    last = f"/{value.rpartition('/')[2]}"
    elsewhere = (name for name in known if f"/{name}".endswith(last))
    near = (*(below + name for name in get_close_matches(wrong, beside, n=count)), *elsewhere)
    return tuple(dict.fromkeys(near))[:count] or tuple(below + name for name in beside[:count])
