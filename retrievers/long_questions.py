"""Long questions: a title and a body above a bound are cut at sentences before they are understood and searched.

Of a story with a question the sentences that do not ask decide little: "My brother says the laptop is too old."

The work for a question grows with its text, so that without a bound a few pasted documents would hold up everyone else.
The bounds are above the longest question of LiveQA (2,500 characters).
"""

from __future__ import annotations

import re
from dataclasses import replace

from qa_core.text.analysis import sentences
from qa_core.types import Question, Span
from retrievers.formulate import asks

TITLE, BODY = 2_000, 4_000
"""Most characters of a title and of a body that are searched."""
STORY = 140
"""Characters from which on a question may tell a story. Of 86 such questions six are answered better if the words of
other sentences may be missing, one worse."""
SCANNED = 20_000
"""Characters of a longer text among which its sentences are chosen."""

_BLANKS = re.compile(r"(\s\s)\s+")


def bounded(question: Question) -> Question:
    """The question with a title and a body of bounded length; the same object if nothing was cut."""
    title, body = shortened(question.title, TITLE), shortened(question.body, BODY)
    if title == question.title and body == question.body:
        return question
    return replace(question, title=title, body=body)


def asides(text: str) -> list[Span]:
    """The sentences of a story that do not ask; none if no other one asks."""
    if len(text) < STORY:
        return []
    spans = sentences(text)
    others = [span for span in spans if not asks(text[slice(*span)])]
    return others if len(others) < len(spans) else []


def without_asides(text: str) -> str:
    """A question without the sentences of its story that do not ask."""
    for start, end in reversed(asides(text)):
        text = text[:start] + text[end:]
    return text


def shortened(text: str, limit: int) -> str:
    """The text, or its sentences that ask, then its first sentences, in their order, within `limit` characters.

    Of more than two blanks in a row two are kept. A text of one sentence is cut at its last blank before the limit.
    """
    text = _BLANKS.sub(r"\1", text)
    if len(text) <= limit:
        return text
    spans = sentences(text[:SCANNED])
    if len(text) > SCANNED and len(spans) > 1:  # the last one is cut
        spans.pop()
    asking = [span for span in spans if asks(text[slice(*span)])]
    room, chosen = limit, set[Span]()
    for span in (*asking, *spans):
        length = span[1] - span[0] + 1
        if span not in chosen and length <= room:
            chosen.add(span)
            room -= length
    if not chosen:
        head = text[:limit]
        return head.rpartition(" ")[0] or head
    return " ".join(text[slice(*span)] for span in spans if span in chosen)
