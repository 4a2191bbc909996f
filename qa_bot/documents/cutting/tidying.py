"""Tidy Markdown: clean characters, with the layout that blocks depend on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from qa_bot.documents.ingest.option_listings import with_option_lists
from qa_bot.documents.ingest.records import Position
from qa_core.text.analysis import clean_characters

_ODD_BLANKS = re.compile(r"[^\S\n\t ]")


def tidy_markdown(text: str, positions: Sequence[Position] = ()) -> tuple[str, list[Position]]:
    """The text in NFC with "\\n" at line ends, without control characters, and the positions moved accordingly.

    Indentation and empty lines stay: they make nested lists and code.
    """
    bounds = sorted({0, *(min(max(0, position.offset), len(text)) for position in positions), len(text)})
    parts = [_tidy(text[start:end]) for start, end in pairwise(bounds)]
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    moved = [starts[bisect_right(bounds, max(0, position.offset)) - 1] for position in positions]
    new = [position._replace(offset=offset) for position, offset in zip(positions, moved, strict=True)]
    return "".join(parts), new


def _tidy(text: str) -> str:
    return with_option_lists(_ODD_BLANKS.sub(" ", clean_characters(text)))
