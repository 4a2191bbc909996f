"""Divides the text of a mail into its own and that of the mails that it forwards, whose heads are left out."""

from __future__ import annotations

import re
from typing import NamedTuple

from qa_bot.documents.ingest.formats.mail.quoted_replies import (
    FORWARDED_SEPARATOR,
    HEADER_OTHER,
    HEADER_START,
    SEPARATOR,
    attribution,
    history,
    is_header_block,
)

LONGEST_SENDER = 200
"""Characters of the sender of a forwarded mail."""
_RULE = re.compile(r"[-_*\s\\]*")
_FIELD = re.compile(rf"{HEADER_START.pattern}|{HEADER_OTHER.pattern}", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class Message(NamedTuple):
    """A text and its sender; the sender of a mail's own text is ""."""

    sender: str
    text: str


def forwards(text: str) -> bool:
    """Whether what follows a mail's own text is marked as forwarded, not as the mail that it answers."""
    lines = text.replace("\r\n", "\n").split("\n")
    end = history(lines)
    return end < len(lines) and FORWARDED_SEPARATOR.match(lines[end]) is not None


def messages_of(text: str) -> list[Message]:
    """The mail's own text, "" if it only forwards, and the mails inside it, without heads and introductions."""
    lines = text.replace("\r\n", "\n").split("\n")
    messages: list[Message] = []
    sender, part = "", list[str]()
    index = 0
    while index < len(lines):
        if SEPARATOR.match(lines[index]) and (head := _next_head(lines, index + 1)):
            index = head
        if is_header_block(lines, index):
            messages.append(_message(sender, part))
            end = _end_of_head(lines, index)
            sender, part = _sender(lines[index:end]), []
            index = end
        elif count := attribution(lines, index):
            index += count
        else:
            part.append(lines[index])
            index += 1
    return [*messages, _message(sender, part)]


def _next_head(lines: list[str], start: int) -> int:
    """Where the head below a separator begins; 0 without one."""
    index = next((index for index in range(start, len(lines)) if lines[index].strip(" >\\")), 0)
    return index if index and is_header_block(lines, index) else 0


def _end_of_head(lines: list[str], start: int) -> int:
    """The line after the fields of a head, also if empty lines are between them."""
    end, is_open = start, True
    for index in range(start, len(lines)):
        line = lines[index]
        if _FIELD.match(line) or (is_open and _goes_on(line)):
            end, is_open = index + 1, True
        elif line.strip(" >\\"):
            break
        else:
            is_open = False
    return end


def _goes_on(line: str) -> bool:
    """Whether a line below a field goes on with its addresses."""
    return line.rstrip()[-1:] in {";", ",", ">"} or ("@" in line and ":" not in line)


def _sender(head: list[str]) -> str:
    line = next(filter(HEADER_START.match, head), "")
    value = _LINK.sub(r"\1", line.partition(":")[2])
    return " ".join(value.strip(" *_\\").split())[:LONGEST_SENDER]


def _message(sender: str, lines: list[str]) -> Message:
    """The text without rules and empty lines around it; one that is quoted as a whole loses its marks."""
    while lines and _RULE.fullmatch(lines[-1]):
        lines.pop()
    if sender and lines and all(line.lstrip().startswith(">") for line in lines if line.strip()):
        lines = [re.sub(r"^\s*> ?", "", line) for line in lines]
    return Message(sender, "\n".join(lines).strip("\n"))
