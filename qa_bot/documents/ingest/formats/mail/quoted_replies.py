"""Cuts quoted replies and signatures from the text of a mail, as plain text or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

SIGNATURE_LINES = 12
INTERLEAVED = 2  # quotations with own text behind them; behind one stands an answer to the whole mail
LONGEST_QUESTION = 300  # characters of a quotation that an answer keeps
ATTRIBUTION = re.compile(
    r"(?:on\b.{8,300}?\bwrote"
    r"|am\b.{8,300}?\b(?:schrieb|geschrieben)\b.{0,120}?"
    r"|le\b.{8,300}?\ba\s+écrit"
    r"|el\b.{8,300}?\bescribió"
    r"|op\b.{8,300}?\bschreef\b.{0,120}?"
    r"|il\b.{8,300}?\bha\s+scritto)\s*:\s*$",
    re.IGNORECASE | re.DOTALL,
)
ATTRIBUTION_START = re.compile(r"(?:on|am|le|el|op|il)\s", re.IGNORECASE)
ATTRIBUTION_LINES = 4
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
HEADER_START = re.compile(r"\W*(?:from|von|de|da|van)\W{0,4}\s?:\s*+\S", re.IGNORECASE)
HEADER_OTHER = re.compile(
    r"\W*(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|to|an|à|para|a|aan|subject|betreff|objet|asunto|"
    r"oggetto|onderwerp|cc)\W{0,4}\s?:\s*+\S",
    re.IGNORECASE,
)
DEVICE = re.compile(
    r"(?:sent from my |get outlook for |von meinem .{1,40} gesendet|gesendet von (?:mein|mail)|envoyé de(?:puis)? mon |"
    r"enviado desde mi |inviato da ).{0,60}$",
    re.IGNORECASE,
)


def without_quotes(text: str) -> str:
    """The mail's own text; the whole text if nothing else would be left, as in a forwarded mail.

    If a mail answers a quotation part by part, each answer keeps what it answers: the last lines quoted before it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    lines = _without_signature(lines[: history(lines)])
    runs = [(is_quoted, [*run]) for is_quoted, run in groupby(_marked(lines), key=lambda line: line.startswith(">"))]
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


def _has_text(lines: list[str]) -> bool:
    return any(map(str.isalnum, "".join(lines)))


def history(lines: list[str]) -> int:
    """The line at which the history of the conversation begins, or the number of lines."""
    for index, line in enumerate(lines):
        if SEPARATOR.match(line) or is_header_block(lines, index):
            return index
        if (count := attribution(lines, index)) and not _quoted(lines[index + count :]):
            return index
    return len(lines)


def attribution(lines: list[str], start: int) -> int:
    """How many lines an introduction such as `On Monday, Ann wrote:` takes, or 0."""
    if not ATTRIBUTION_START.match(lines[start].lstrip("*_ ")):
        return 0
    for count in range(1, ATTRIBUTION_LINES + 1):
        block = lines[start : start + count]
        if count > len(block) or not block[-1].strip():
            return 0
        if ATTRIBUTION.match(" ".join(block).strip("*_ ")):
            return count
    return 0


def _quoted(lines: list[str]) -> bool:
    """Whether the next text is marked as a quotation."""
    return next((line.lstrip().startswith(">") for line in lines if line.strip()), False)


def is_header_block(lines: list[str], start: int) -> bool:
    """Whether the head of an older mail begins here: `From:`, and two more fields."""
    if not HEADER_START.match(lines[start]):
        return False
    following = [line for line in lines[start + 1 : start + 9] if line.strip()][:4]
    return sum(bool(HEADER_OTHER.match(line)) for line in following) >= 2


def _without_signature(lines: list[str]) -> list[str]:
    for index, line in enumerate(lines):
        is_mark = line == "-- " or (line.strip() in {"--", "\\--"} and len(lines) - index <= SIGNATURE_LINES)
        if is_mark:
            lines = lines[:index]
            break
    while lines and (not lines[-1].strip() or DEVICE.match(lines[-1].strip())):
        lines.pop()
    return lines
