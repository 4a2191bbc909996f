"""Headings that say when something happened: below "3.2.0 – 6 May 2024" no text names the day of the release.

An answer to a question for a date then begins with the heading.
"""

from __future__ import annotations

import re
from dataclasses import replace

from qa_bot.answering.tiling.opinions import Tiling
from qa_bot.documents.ingest.dates import MONTHS
from qa_core.text.markdown_text import plain_text
from qa_core.types import Passage

_MONTHS = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = re.compile(
    rf"(?<![\d.])(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?(?:{_MONTHS})\b|(?:{_MONTHS})\s\d{{1,2}}\b"
    rf"|(?:{_MONTHS})\.?,?\s(?:19|20)\d\d\b|(?:19|20)\d\d-\d\d-\d\d\b|\d{{1,2}}[./]\s?\d{{1,2}}[./]\s?(?:19|20)\d\d\b)",
    re.IGNORECASE,
)
"""A day, or a month of a year."""
_ASKS = re.compile(
    r"^\W*(?:(?:and|und) )?(?:when (?:was|were|did|is|are|does|will)|since when|wann|seit wann|quand)\b"
    r"|\b(?:what|which) (?:date|day|month)\b|\b(?:welche[mnrs]?|was für ein) (?:Tag|Datum|Monat)\b",
    re.IGNORECASE,
)


def dated_heading(passage: Passage, question: str) -> str:
    """The nearest heading or the title with a date if a question asks for one, and the passage has none; else ""."""
    if not _ASKS.search(question) or _DAY.search(passage.text):
        return ""
    names = (plain_text(name).strip() for name in (*reversed(passage.place.heading), passage.source.title))
    return next((name for name in names if _DAY.search(name)), "")


def below(heading: str, tiling: Tiling) -> Tiling:
    """An answer below a heading, which belongs to no source."""
    opening = f"**{heading}**\n\n"
    shift = len(opening)
    tiles = [replace(tile, span=(tile.span[0] + shift, tile.span[1] + shift)) for tile in tiling.tiles]
    lead = tiling.lead and (tiling.lead[0] + shift, tiling.lead[1] + shift)
    return replace(tiling, text=opening + tiling.text, tiles=tuple(tiles), lead=lead)
