"""Chats that programs save or copy as text: WhatsApp, Teams, Zoom and IRC.

A message begins with its time and author; its further lines follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

FEWEST = 3  # messages
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_AUTHOR = r"(?P<author>[^:\n]{1,60}?)"
FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?P<time>{_DAY},? {_CLOCK}) [-–] (?:{_AUTHOR}: )?(?P<text>.*)",  # WhatsApp on Android
        rf"\[(?P<time>{_DAY},? {_CLOCK})\] (?:{_AUTHOR}: )?(?P<text>.*)",  # and on iPhones, where a bracket is around
        rf"\[?(?P<time>{_CLOCK})\]? <[@+ ]?(?P<author>[^<>\s]{{1,30}})> (?P<text>.*)",  # IRC
        rf"\[(?P<time>(?:(?:[^\W\d]+|{_DAY}|\d{{1,2}}[./]\d{{1,2}}\.?),? )?{_CLOCK})\] {_AUTHOR}(?P<text>)",  # Teams
        rf"(?P<time>{_CLOCK})\s+(?:From|Von)\s+{_AUTHOR}(?:\s+(?:to|an|To|An)\s+[^:\n]{{1,60}})?\s?:(?:\s+|$)(?P<text>.*)",
    )
)
UNSAID = re.compile(
    r"<[^<>]{0,40}(?:omitted|weggelassen|ausgeschlossen|omis|omitid[oa]|omess[oi])>"
    r"|(?:image|video|audio|sticker|GIF|document|Bild|Video|Audio|Dokument)\s(?:omitted|weggelassen)"
    r"|(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|du hast diese nachricht "
    r"gelöscht)\.?",
    re.IGNORECASE,
)
"""In place of a picture, a recording, or a message that was deleted."""
LEVELS = {"info", "warn", "warning", "error", "debug", "trace", "fatal", "critical", "notice"}
"""Of the lines of a log."""
MARKS = str.maketrans("", "", "\u200e\u200f\u202a\u202c\ufeff")


@dataclass(slots=True)
class _Message:
    time: str
    author: str
    lines: list[str] = field(default_factory=list)


def chat(text: str) -> str:
    """The messages of a chat as Markdown, each a paragraph behind its author and time; "" if the text is none."""
    lines = [line.translate(MARKS).rstrip() for line in text.split("\n")]
    first = next((line for line in lines if line), "")
    form = next((form for form in FORMS if form.fullmatch(first)), None)
    if form is None:
        return ""
    messages = [message for message in _messages(lines, form) if message.author]
    authors = {message.author.casefold() for message in messages}
    has_text = all(any(message.lines) for message in messages)
    if len(messages) < FEWEST or len(authors) < 2 or not authors.isdisjoint(LEVELS) or not has_text:
        return ""
    writer = MarkdownWriter()
    for message in messages:
        shown = [line for line in message.lines if line and not UNSAID.fullmatch(line)]
        if any(map(str.isalnum, "".join(shown))):
            writer.paragraph("\n".join([f"{message.author} ({message.time}): {shown[0]}", *shown[1:]]))
    return writer.text


def _messages(lines: Sequence[str], form: re.Pattern[str]) -> Iterator[_Message]:
    """The messages, also those of the program, which have no author."""
    message = _Message("", "")
    for line in lines:
        if match := form.fullmatch(line):
            yield message
            message = _Message(match["time"], (match["author"] or "").strip(), [match["text"].strip()])
        else:
            message.lines.append(line.strip())
    yield message
