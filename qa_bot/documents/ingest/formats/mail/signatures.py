"""Cuts signatures off the text of a mail, as plain text or Markdown."""

from __future__ import annotations

import re
from itertools import takewhile

from qa_bot.documents.ingest.formats.mail.courtesies import CONFIDENTIAL

DECLARED = ".moz-signature, .gmail_signature, .gmail_signature_prefix"
"""Selects what programs declare as a signature in HTML."""
MARK = "-- "
BARE_MARKS = {"--", "\\--"}
"""The mark without its blank, which programs strip and HTML does not show; people also divide parts of a text by it."""
MOST_LINES = 12
LONGEST = 80
"""Characters of a line of a signature, its links without their addresses."""
DEVICE = re.compile(
    r"(?:sent from my |get outlook for |von meinem .{1,40} gesendet|gesendet von (?:mein|mail)|envoyé de(?:puis)? mon |"
    r"enviado desde mi |inviato da ).{0,60}$",
    re.IGNORECASE,
)
_ENDS = re.compile(r">|\W{0,3}(?:ps|p\.\s?s\.)(?:\s?:|\W)\s*+\S", re.IGNORECASE)
_TEXT = re.compile(r"[-*•] |\d{1,2}[.)] |(?:\S+\s+){4,}\S+[.!?:]$")
_LINK = re.compile(r"\]\([^()\s]*\)")


def without_signature(lines: list[str]) -> list[str]:
    """The lines without a signature, which ends at a quotation or postscript, and names of devices at the end."""
    if (mark := _mark(lines)) is not None:
        below = range(mark + 1, len(lines))
        end = next((index for index in below if _ENDS.match(lines[index])), len(lines))
        lines = [*lines[:mark], "", *lines[end:]]
    end = len(lines)
    while end and (not lines[end - 1].strip() or DEVICE.match(lines[end - 1].strip())):
        end -= 1
    return lines[:end]


def _mark(lines: list[str]) -> int | None:
    """The line that marks a signature: one with its blank, else the only bare one if no text is below it."""
    if MARK in lines:
        return lines.index(MARK)
    bare = [index for index, line in enumerate(lines) if line.strip() in BARE_MARKS]
    return bare[0] if len(bare) == 1 and _is_signature(lines[bare[0] + 1 :]) else None


def _is_signature(lines: list[str]) -> bool:
    """Whether lines begin with a signature: they are few and short, and neither sentences nor a list."""
    filled = [_LINK.sub("]", line.strip().removesuffix("\\")) for line in lines if line.strip()]
    signature = list(takewhile(lambda line: not (_ENDS.match(line) or CONFIDENTIAL.match(line)), filled))
    return len(signature) <= MOST_LINES and not any(len(line) > LONGEST or _TEXT.match(line) for line in signature)
