"""Tiling: which passages, and how much of each, become one answer text (Wang 2018, section 7.2.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qa_core.types import Candidate, Span

Sentences = Callable[[str], Sequence[Span]]

LONG_TOP = 500
"""A top passage of more characters than this stands alone."""
NEAR_BEST = 0.9
"""Further passages must score more than this share of the best."""
ENOUGH = 0.5
"""Tiling stops once the text is longer than this share of the limit."""


@dataclass(frozen=True, slots=True)
class Tile:
    """`span` of the answer comes from `source_span` of the passage of `candidate`."""

    candidate: Candidate
    span: Span
    source_span: Span


@dataclass(frozen=True, slots=True)
class Tiling:
    text: str
    tiles: tuple[Tile, ...]
    lead: Span | None = None  # the stretch of the text that answers
    former: str = ""  # an older figure with its date, beside the text


def tile(candidates: Sequence[Candidate], *, limit: int = 1000, sentences: Sentences) -> Tiling:
    """Concatenate the best passages, best first, into at most `limit` characters.

    A top passage longer than 500 characters is the whole answer, cut to the limit. Otherwise passages whose score is
    above 90 % of the best follow, opened by "Opinion 2:", "Opinion 3:" …, until the text is longer than half the
    limit. Scores of a learned fusion are log-odds; their shares are those of their probabilities. Cuts fall on sentence
    bounds, on a word bound where not even one sentence fits a lone passage.
    """
    if not candidates:
        return Tiling("", ())
    best = candidates[0]
    is_log_odds = best.signals.learned is not None or best.score < 0
    strength = _probability if is_log_odds else float
    text = ""
    tiles: list[Tile] = []
    seen: set[str] = set()
    for candidate in candidates:
        if tiles and (
            len(best.passage.text) > LONG_TOP or strength(candidate.score) <= NEAR_BEST * strength(best.score)
        ):
            break
        if (known := _fold(candidate.passage.text)) in seen:
            continue
        seen.add(known)
        opening = f"\n\nOpinion {len(tiles) + 1}: " if tiles else ""
        source_span = cut(candidate.passage.text, limit - len(text) - len(opening), sentences, may_split=not tiles)
        if source_span is None:
            continue
        start = len(text) + len(opening)
        text += opening + candidate.passage.text[slice(*source_span)]
        tiles.append(Tile(candidate, (start, len(text)), source_span))
        if len(text) > ENOUGH * limit:
            break
    return Tiling(text, tuple(tiles))


def _probability(log_odds: float) -> float:
    odds = math.exp(-abs(log_odds))  # of the less likely side, which cannot overflow
    return (1.0 if log_odds > 0 else odds) / (1 + odds)


def _fold(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def cut(text: str, room: int, sentences: Sentences, *, may_split: bool) -> Span | None:
    """The longest run of whole sentences from the start of `text` that fits, or None."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if end - start <= room:
        return (start, end) if end > start else None
    fitting = [stop for _, stop in sentences(text) if stop - start <= room]
    if fitting:
        return start, fitting[-1]
    if not may_split or room <= 0:
        return None
    space = max(text.rfind(" ", start, start + room + 1), text.rfind("\n", start, start + room + 1))
    return start, space if space > start else start + room
