"""The page, or the row of a sheet, that an answer cites: that of its lead instead of the passage's first one.

A source has one place. If a second passage of its document is on another page, the text of the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from qa_core.types import FloatArray, Passage, Place, Span

SLIDES = frozenset([".pptx", ".ppt", ".odp", ".key"])
"""Suffixes of files whose pages are slides."""
_NAMES = {"de": ("Seite", "Folie"), "fr": ("page", "diapositive")}


def cited_place(passage: Passage, units: Sequence[Span], scores: FloatArray, lead: Span | None) -> Place:
    """The place with the page on which the lead begins, in a sheet with the row that fits the question best.

    If that is a line above or below a table, it is the first row of the lead, and none if the lead has no row.

    Args:
        units: spans of the passage's text, in order; those of rows begin with "|".
        scores: of each unit, (U,).
    """
    text, place = passage.text, passage.place
    if lead is None:
        return place
    if place.row is None:
        return with_page(place, lead[0])
    rows = [start for start, _ in units if text.startswith("|", start)]
    if not rows:  # a question with its answer, or a part of a row
        return place
    best = units[int(np.argmax(scores))][0]
    best = best if best in rows else next((start for start in rows if lead[0] <= start < lead[1]), -1)
    place = replace(place, later=((rows[0], place.row), *place.later))
    return with_row(place, text, best) if best >= 0 else replace(place, row=None)


def with_page(place: Place, start: int) -> Place:
    """The place with the page that has the text at `start`; its `later` then has the first page, too."""
    if place.page is None or place.row is not None or not place.later:
        return place
    later = place.later if place.later[0][0] == 0 else ((0, place.page), *place.later)
    return replace(place, page=[page for begin, page in later if begin <= start][-1], later=later)


def with_row(place: Place, text: str, start: int) -> Place:
    """The place with the number of the row that begins at `start`, if `later` has the first rows of all tables."""
    tables = [table for table in place.later if table[0] <= start]
    if place.row is None or not tables:
        return place
    first, row = tables[-1]
    return replace(place, row=row + text.count("\n", first, start))


def name_of_second(second: Passage, best: Passage) -> str:
    """The nearest heading or title of a second passage, and its page if it is another one of the same document.

    It is "" if the passage stands below the heading of the first, on its page.
    """
    name = [second.source.title, *second.place.heading][-1]
    page = _page(second) if second.source == best.source and second.place.page != best.place.page else ""
    is_same = (second.source, second.place.heading) == (best.source, best.place.heading)
    return ", ".join(filter(None, (name, page))) if page or not is_same else ""


def _page(passage: Passage) -> str:
    """The page or slide of a passage in the language of its document: "slide 4"; "" without one."""
    details = passage.source.details
    is_slide = PurePath(details.path or passage.source.document).suffix.lower() in SLIDES
    name = _NAMES.get(details.language, ("page", "slide"))[is_slide]
    return f"{name} {passage.place.page}" if passage.place.page is not None else ""
