"""Cuts quoted replies and signatures from the text of a mail, as plain text or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

from qa_bot.documents.ingest.formats.mail.signatures import without_signature

INTERLEAVED = 2  # quotations with own text behind them; behind one stands an answer to the whole mail
LONGEST_QUESTION = 300  # characters of a quotation that an answer keeps
ATTRIBUTION = re.compile(
    r"(?:on\b.{8,300}?\bwrote"
    r"|am\b.{8,300}?\b(?:schrieb|geschrieben)\b.{0,120}?"
    r"|le\b.{8,300}?\ba\s+écrit"
    r"|el\b.{8,300}?\bescribió"
    r"|op\b.{8,300}?\b(?:schreef|geschreven)\b.{0,120}?"
    r"|il\b.{8,300}?\bha\s+scritto)\s*:\s*$",
    re.IGNORECASE | re.DOTALL,
)
ATTRIBUTION_START = re.compile(r"(?:on|am|le|el|op|il)\s", re.IGNORECASE)
ATTRIBUTION_LINES = 4
ADDRESS_OR_TIME = re.compile(r"\w@\w|\b\d{1,2}:\d\d")
DATE = re.compile(
    r"\b\d{1,4}[./-]\d{1,2}[./-]\d{2,4}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th|er|\.)?\s+(?:de\s+)?[^\W\d_]{3,}\.?,?\s+(?:de\s+)?(?:19|20)\d\d\b"
    r"|\b[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)
"""A day with its year, which programs write above a quotation; "on Friday the boss wrote:" is what a person writes."""
_FORWARDED = (
    r"(?:begin )?forwarded message|(?:anfang der )?weitergeleiteten? nachricht"
    r"|(?:début du )?message (?:transféré|réexpédié)|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht"
)
_ORIGINAL = (
    r"original message|original appointment|ursprüngliche nachricht|message d['’]origine|mensaje original"
    r"|messaggio originale|oorspronkelijk bericht"
)
SEPARATOR = re.compile(rf"[-_\s*>]*\b(?:{_ORIGINAL}|{_FORWARDED})\b[-_\s*:]*$", re.IGNORECASE)
FORWARDED_SEPARATOR = re.compile(rf"[-_\s*>]*\b(?:{_FORWARDED})\b[-_\s*:]*$", re.IGNORECASE)
_SENT = r"sent|gesendet|envoyé|enviado(?: el)?|inviato|verzonden"
HEADER_START = re.compile(r"\W*(?:from|von|de|da|van)\W{0,4}\s?:\s*+\S", re.IGNORECASE)
HEADER_SENT = re.compile(rf"\W*(?:{_SENT})\W{{0,4}}\s?:\s*+\S", re.IGNORECASE)
HEADER_OTHER = re.compile(
    rf"\W*(?:{_SENT}|date|datum|fecha|data|to|an|à|para|a|aan|subject|betreff|objet|asunto|"
    r"oggetto|onderwerp|cc)\W{0,4}\s?:\s*+\S",
    re.IGNORECASE,
)
HEADER_LINES = 9  # with empty ones, as each field of a head may be a paragraph


def without_quotes(text: str) -> str:
    """The mail's own text; the whole text if nothing else would be left, as in a forwarded mail.

    If a mail answers a quotation part by part, each answer keeps what it answers: the last lines quoted before it.
    """
    whole = text.replace("\r\n", "\n").split("\n")
    lines = _with_whole_code(without_signature(list(_marked(whole[: history(whole)]))), whole)
    runs = [(is_quoted, [*run]) for is_quoted, run in groupby(lines, key=lambda line: line.startswith(">"))]
    if not any(_has_text(run) for is_quoted, run in runs if not is_quoted):
        return text
    answered = [at for at, (one, other) in enumerate(pairwise(runs)) if one[0] and _has_text(other[1])]
    quoted = answered if len(answered) >= INTERLEAVED else []
    parts = [
        _question(run) if is_quoted else "\n".join(run)
        for at, (is_quoted, run) in enumerate(runs)
        if not is_quoted or at in quoted
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip()


def _marked(lines: list[str]) -> Iterator[str]:
    """The lines without introductions of quotations; quoted ones begin with `>`."""
    index = 0
    while index < len(lines):
        if lines[index].lstrip().startswith(">"):
            yield lines[index].lstrip()
            index += 1
        elif count := attribution(lines, index):
            index += count
        else:
            yield lines[index]
            index += 1


def _question(quoted: list[str]) -> str:
    """The last paragraph of a quotation, if it is short; without what it quotes itself."""
    paragraphs = "\n".join(line[1:].strip() for line in quoted if not re.match(r">\s*>", line)).split("\n\n")
    last = " ".join(next(filter(str.strip, reversed(paragraphs)), "").split())
    return f"\n> {last}\n" if last and len(last) <= LONGEST_QUESTION else ""


def _with_whole_code(lines: list[str], whole: list[str]) -> list[str]:
    """The lines of the whole text that stay, with an end of the code that was cut in two, or without its begin."""
    fences, all_fences = ([line for line in part if line.startswith("```")] for part in (lines, whole))
    if len(fences) % 2 == 0 or len(all_fences) % 2:
        return lines
    return lines[:-1] if lines[-1] == fences[-1] else [*lines, "```"]


def _has_text(lines: list[str]) -> bool:
    return any(map(str.isalnum, "".join(lines)))


def history(lines: list[str]) -> int:
    """The line at which the history of the conversation begins, or the number of lines."""
    for index, line in enumerate(lines):
        if SEPARATOR.match(line) or is_header_block(lines, index):
            return index
        if (count := attribution(lines, index)) and not _quoted(lines, index + count):
            return index
    return len(lines)


def attribution(lines: list[str], start: int) -> int:
    """How many lines an introduction such as `On 3 May 2024, Ann wrote:` takes, or 0.

    It has a date, a time or an address, or a quotation follows it.
    """
    if not ATTRIBUTION_START.match(lines[start].lstrip("*_ ")):
        return 0
    for count in range(1, ATTRIBUTION_LINES + 1):
        block = lines[start : start + count]
        if count > len(block) or not block[-1].strip() or (count > 1 and block[-2].rstrip()[-1] in ".!?:"):
            return 0
        text = " ".join(block).strip("*_ ")
        if ATTRIBUTION.match(text):
            is_dated = ADDRESS_OR_TIME.search(text) or DATE.search(text)
            return count if is_dated or _quoted(lines, start + count) else 0
    return 0


def _quoted(lines: list[str], start: int) -> bool:
    """Whether the next text from a line on is marked as a quotation."""
    texts = (lines[index].lstrip() for index in range(start, len(lines)))
    return next((text.startswith(">") for text in texts if text), False)


def is_header_block(lines: list[str], start: int) -> bool:
    """Whether the head of an older mail begins here: `From:` and two more fields; `Sent:` may be above `From:`.

    "From: Ulm, To: Berlin, Date: 5 May" is also the text of a mail, so there is an address, a time or `Sent:` among the
    fields, or the lines are quoted or below "Original message".
    """
    sender = start + 1 if HEADER_OTHER.match(lines[start]) and start + 1 < len(lines) else start
    if not HEADER_START.match(lines[sender]):
        return False
    following = [line for line in lines[sender + 1 : sender + HEADER_LINES] if line.strip()][:4]
    fields = [*lines[start:sender], *(line for line in following if HEADER_OTHER.match(line))]
    if len(fields) < 2:
        return False
    is_sure = any(HEADER_SENT.match(line) or ADDRESS_OR_TIME.search(line) for line in [lines[sender], *fields])
    return is_sure or lines[start].lstrip().startswith(">") or _is_announced(lines, start)


def _is_announced(lines: list[str], start: int) -> bool:
    """Whether the text above a line is "Original message" or the like."""
    above = (line for line in reversed(lines[max(0, start - HEADER_LINES) : start]) if line.strip(" >\\"))
    return SEPARATOR.match(next(above, "")) is not None
