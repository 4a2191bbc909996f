"""What filters look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Facets(NamedTuple):
    """What filters look at: `folders` are the document's path and all folders above it, `date` is YYYYMMDD or 0."""

    collection: str = ""
    folders: Sequence[str] = ()
    date: int = 0
    language: str = ""


NO_FACETS = Facets()
