"""The heads of mails and memos in plain text, which name sender, recipient, subject and date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.dates import first_day, is_date, iso_date
from qa_bot.documents.ingest.formats.markup.plain.tables import COLUMNS

FIELD = re.compile(
    r"(?P<name>from|to|cc|date|sent|subject|re|von|an|gesendet|datum|betreff|de|à|envoyé|objet|para|enviado|asunto"
    r"|da|a|data|inviato|oggetto|attachments?|anlagen?)\s*:\s*(?P<value>.*)",
    re.IGNORECASE,
)
SUBJECTS = {"subject", "betreff", "objet", "asunto", "oggetto"}
REPLY = re.compile(r"(?:(?:re|aw|wg|fwd?|tr|sv|antw|r|i)\s*:\s*)+", re.IGNORECASE)
FEWEST = 3  # fields
INSIDE = 8  # blanks before a line that is surely in the middle
UNEVEN = 4  # blanks by which the margins of another one may differ
MOST_LINES, LONGEST_TITLE = 3, 200  # of a title in the middle, and characters


class Letterhead(NamedTuple):
    """The title below two columns, in the middle of the page; the date is in the right one ("" without one)."""

    title: str
    date: str


def subject_of(lines: Sequence[str]) -> str:
    """The subject that the head of a mail states, without signs of replies; "" if the lines are no head."""
    fields = [FIELD.fullmatch(line.strip()) for line in lines[: 2 * FEWEST]]
    named = [field for field in fields if field]
    if len(named) < FEWEST or not fields[0]:
        return ""
    return next((REPLY.sub("", field["value"], 1) for field in named if field["name"].lower() in SUBJECTS), "")


def letterhead(blocks: Sequence[Sequence[str]]) -> Letterhead | None:
    """The head that RFCs and other memos have; None if the first two blocks of lines are no such head."""
    if len(blocks) < FEWEST or len(blocks[0]) < 2 or not COLUMNS.search(blocks[0][0]):
        return None
    if not _is_title(blocks[1], max(map(len, blocks[0]))):
        return None
    in_right_column = [re.split(r" {2,}|\t+", line.strip())[-1] for line in blocks[0]]
    return Letterhead(" ".join(map(str.strip, blocks[1])), next(filter(None, map(_date, in_right_column)), ""))


def _is_title(lines: Sequence[str], width: int) -> bool:
    """Whether a block is a title in the middle of a page of this width in characters, perhaps of several lines."""
    is_inside = all(line[0] == " " and not COLUMNS.search(line) and _is_centred(line, width) for line in lines)
    return is_inside and len(lines) <= MOST_LINES and sum(len(line.strip()) for line in lines) <= LONGEST_TITLE


def _is_centred(line: str, width: int) -> bool:
    left = len(line) - len(line.lstrip())
    return left >= INSIDE or abs(width - len(line) - left) <= UNEVEN


def _date(text: str) -> str:
    """A date, or the first day of a month with a name; "" for others."""
    return iso_date(text) if is_date(text) else first_day(text) if text[:1].isalpha() else ""
