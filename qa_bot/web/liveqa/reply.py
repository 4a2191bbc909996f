"""The XML reply of LiveQA, always within the limits of the track.

`pid`, which names the participant in the track, is the id of the answer, which votes and conversations use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from xml.etree.ElementTree import Element, SubElement, tostring

from qa_bot.web.liveqa.liveqa_focus import Analysis, shortened
from qa_core.text.markdown.plain import as_plain_text
from qa_core.types import Answer, Span

CONTENT, REST = 1000, 2048
"""Limits of the answer, and of the rest of the reply with mark-up and escapes, in characters."""
QID, REASON, SUMMARY = 512, 512, 400
"""Limits of these fields within `REST`, in characters; at least 700 remain for the resources."""
ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""

_ESCAPED = frozenset('&<>"\r\n\t')
_LONGEST_ESCAPE = len("&quot;")


def reply(answer: Answer, analysis: Analysis, *, qid: str, milliseconds: int) -> str:
    """The reply to one question.

    The resources are the sources of the answer, by URL or else by document id; the last ones are left out if they do
    not fit. A `qid` or reason beyond its limit is cut.
    """
    root = Element("xml")
    answered = "yes" if answer.answered else "no"
    element = SubElement(
        root, "answer", answered=answered, pid=answer.id, qid=_within(qid, QID), time=str(milliseconds)
    )
    if answer.answered:
        content, resources = SubElement(element, "content"), SubElement(element, "resources")
    else:
        SubElement(element, "discard-reason").text = _within(answer.reason, REASON)
    SubElement(element, "title-foci").text = _spans(analysis.title_foci)
    SubElement(element, "body-foci").text = _spans(analysis.body_foci)
    SubElement(element, "summary").text = _within(analysis.summary, SUMMARY)
    if answer.answered:
        resources.text = ",".join(_fitting(_resources(answer), REST - len(_written(root))))
        content.text = shortened(ILLEGAL.sub("", _content(answer)), CONTENT)
    return _written(root)


def _content(answer: Answer) -> str:
    """The answer without signs of Markdown, after the remark that it is unsure or from the starter collection."""
    text = as_plain_text(answer.text)
    return f"{answer.reason}\n\n{text}" if answer.reason else text


def _written(root: Element) -> str:
    return tostring(root, encoding="unicode", short_empty_elements=False)


def _spans(spans: Iterable[Span]) -> str:
    return ",".join(f"{start}-{end}" for start, end in spans)


def _resources(answer: Answer) -> list[str]:
    """URLs or ids of the answer's sources, each once, with commas encoded."""
    used = (source.url or source.document for source in answer.sources if source.span is not None)
    return list(dict.fromkeys(ILLEGAL.sub("", resource).replace(",", "%2C") for resource in used))


def _fitting(entries: Sequence[str], room: int) -> Iterator[str]:
    """The first entries that fit with the commas between them."""
    ends = accumulate(_length(entry) + 1 for entry in entries)
    return (entry for entry, end in zip(entries, ends, strict=True) if end - 1 <= room)


def _within(text: str, room: int) -> str:
    """The beginning of a text, without illegal characters, that fits into `room` characters when escaped."""
    text = ILLEGAL.sub("", text)
    return text[: sum(end <= room for end in accumulate(map(_length, text)))]


def _length(text: str) -> int:
    """Upper bound of a text's escaped length."""
    return len(text) + (_LONGEST_ESCAPE - 1) * sum(map(_ESCAPED.__contains__, text))
