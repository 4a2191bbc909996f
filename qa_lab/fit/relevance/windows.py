"""Windows of passages to learn from: their sizes and the place of the sentence vary, so that none gives the label away.

In use, a window has 350 characters around the sentence that the search prefers; see
`qa_bot/answering/verification/reading.py`.
"""

from __future__ import annotations

import random
import re

from qa_bot.answering.verification.reading import WINDOW, window
from qa_core.text.markdown_text import context, plain_text
from qa_core.types import Span

SIZES = (WINDOW, WINDOW, WINDOW, 500, 700, 1100)
"""Characters, one of which is drawn for each window."""
SHORTEST = 60
"""Characters that a passage must have without the sentence that answers."""
_SHIFTS = ((0.4, 0.0), (0.25, 0.0), (0.0, 0.0), (0.0, 0.4))
"""Shares of the room before and after the lead that count as the lead: .4, .5, 2/3 or .8 of the room follow it."""
_WORD = re.compile(r"\w{3,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


def words_of(text: str) -> frozenset[str]:
    """Words of at least three letters or digits, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def sentences(text: str) -> list[Span]:
    """Spans of sentences and lines; the whole text if it has none."""
    ends = [match.span() for match in _SENTENCE_END.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    spans = zip(starts, [*(start for start, _ in ends), len(text)], strict=True)
    return [span for span in spans if span[0] < span[1]] or [(0, len(text))]


def likeliest_sentence(question: str, text: str, rng: random.Random) -> Span:
    """The sentence with most words of the question, a random one of several."""
    words = words_of(question)
    return max(sentences(text), key=lambda span: (len(words & words_of(text[slice(*span)])), rng.random()))


def drawn_window(text: str, lead: Span | None, rng: random.Random) -> str:
    """A window of a random size around a lead, which is at a random share of it; the beginning without a lead."""
    size = rng.choice(SIZES)
    if lead is None:
        return window(text, None, size)
    before, after = rng.choice(_SHIFTS)
    start, end = lead
    room = max(0, size - (end - start))
    widened = (max(0, start - int(before * room)), min(len(text), end + int(after * room)))
    return window(text, widened, size)


def without_answer(text: str, answer: Span) -> str:
    """The text without the sentences that the answer touches; empty if less than `SHORTEST` characters remain."""
    touched = [span for span in sentences(text) if span[0] < answer[1] and answer[0] < span[1]] or [answer]
    rest = (text[: touched[0][0]] + text[touched[-1][1] :]).strip()
    return rest if len(rest) >= SHORTEST else ""


def below_title(title: str, heading: str, text: str) -> str:
    """The plain text below its title and heading, as the product reads a passage."""
    return f"{context(title, [heading])}. {plain_text(text)}".removeprefix(". ")
