"""The XML that a LiveQA client gets, within the limits of the track whatever was asked and answered.

`pid`, with which participants of the track name themselves, is the id of the answer: it is in every reply, different
for each, and the one by which votes and conversations know the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from xml.etree.ElementTree import Element, SubElement, tostring

from qa_bot.web.liveqa.liveqa_focus import Analysis, shortened
from qa_core.types import Answer, Span

CONTENT, REST = 1000, 2048
"""Most characters of the answer, and of all else in the reply, mark-up and escapes included."""
QID, REASON, SUMMARY = 512, 512, 400
"""Most characters of `REST` for each of these; the resources have what is left, some 700 at least."""
ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to write."""

_ESCAPED = frozenset('&<>"\r\n\t')
_LONGEST_ESCAPE = len("&quot;")


def reply(answer: Answer, analysis: Analysis, *, qid: str, milliseconds: int) -> str:
    """The reply to one question.

    The resources are those sources that the answer is made from, each by its URL or else its document's id; where not
    all have room, the last ones are left out. Of a `qid` or reason beyond its share of `REST` the beginning is given.
    """
    root = Element("xml")
    answered = "yes" if answer.answered else "no"
    told = SubElement(root, "answer", answered=answered, pid=answer.id, qid=_within(qid, QID), time=str(milliseconds))
    if answer.answered:
        content, resources = SubElement(told, "content"), SubElement(told, "resources")
    else:
        SubElement(told, "discard-reason").text = _within(answer.reason, REASON)
    SubElement(told, "title-foci").text = _spans(analysis.title_foci)
    SubElement(told, "body-foci").text = _spans(analysis.body_foci)
    SubElement(told, "summary").text = _within(analysis.summary, SUMMARY)
    if answer.answered:
        resources.text = ",".join(_fitting(_resources(answer), REST - len(_written(root))))
        content.text = shortened(ILLEGAL.sub("", answer.text), CONTENT)
    return _written(root)


def _written(root: Element) -> str:
    return tostring(root, encoding="unicode", short_empty_elements=False)


def _spans(spans: Iterable[Span]) -> str:
    return ",".join(f"{start}-{end}" for start, end in spans)


def _resources(answer: Answer) -> list[str]:
    """Where the tiles come from, each once; a comma inside would end the entry."""
    used = (source.url or source.document for source in answer.sources if source.span is not None)
    return list(dict.fromkeys(ILLEGAL.sub("", each).replace(",", "%2C") for each in used))


def _fitting(entries: Sequence[str], room: int) -> Iterator[str]:
    """The first entries that fit, whole, with the commas between them."""
    ends = accumulate(_length(entry) + 1 for entry in entries)
    return (entry for entry, end in zip(entries, ends, strict=True) if end - 1 <= room)


def _within(text: str, room: int) -> str:
    """The beginning of a text, without illegal characters, that is no longer than `room` once it is escaped."""
    text = ILLEGAL.sub("", text)
    return text[: sum(end <= room for end in accumulate(map(_length, text)))]


def _length(text: str) -> int:
    """Characters that a text takes at most when it is written."""
    return len(text) + (_LONGEST_ESCAPE - 1) * sum(map(_ESCAPED.__contains__, text))
