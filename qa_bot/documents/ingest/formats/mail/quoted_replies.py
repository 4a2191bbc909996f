"""Cuts quoted replies and signatures from the text of a mail, as plain text or Markdown."""

from __future__ import annotations

import re

SIGNATURE_LINES = 12
ATTRIBUTION = re.compile(
    r"(?:on\b.{8,300}?\bwrote"
    r"|am\b.{8,300}?\b(?:schrieb|geschrieben)\b.{0,120}?"
    r"|le\b.{8,300}?\ba\s+écrit\s*"
    r"|el\b.{8,300}?\bescribió"
    r"|op\b.{8,300}?\bschreef\b.{0,120}?"
    r"|il\b.{8,300}?\bha\s+scritto)\s*:\s*$",
    re.IGNORECASE | re.DOTALL,
)
ATTRIBUTION_START = re.compile(r"(?:on|am|le|el|op|il)\s", re.IGNORECASE)
ATTRIBUTION_LINES = 4
SEPARATOR = re.compile(
    r"[-_\s*]*\b(?:original message|original appointment|forwarded message|ursprüngliche nachricht|"
    r"weitergeleitete nachricht|message d['’]origine|mensaje original|messaggio originale|oorspronkelijk bericht)"
    r"\b[-_\s*:]*$",
    re.IGNORECASE,
)
HEADER_START = re.compile(r"\W*(?:from|von|de|da|van)\W{0,4}\s?:\W*\s*\S", re.IGNORECASE)
HEADER_OTHER = re.compile(
    r"\W*(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|to|an|à|para|a|aan|subject|betreff|objet|asunto|"
    r"oggetto|onderwerp|cc)\W{0,4}\s?:\W*\s*\S",
    re.IGNORECASE,
)
DEVICE = re.compile(
    r"(?:sent from my |get outlook for |von meinem .{1,40} gesendet|gesendet von (?:mein|mail)|envoyé de(?:puis)? mon |"
    r"enviado desde mi |inviato da ).{0,60}$",
    re.IGNORECASE,
)


def without_quotes(text: str) -> str:
    """The mail's own text; the whole text if nothing else would be left, as in a forwarded mail."""
    lines = text.replace("\r\n", "\n").split("\n")
    lines = lines[: _end(lines)]
    own_lines: list[str] = []
    index = 0
    while index < len(lines):
        if lines[index].lstrip().startswith(">"):
            index += 1
        elif count := _attribution(lines, index):
            index += count
        else:
            own_lines.append(lines[index])
            index += 1
    result = _without_signature("\n".join(own_lines)).strip()
    return result if any(map(str.isalnum, result)) else text


def _end(lines: list[str]) -> int:
    """The line at which the history of the conversation begins, or the number of lines."""
    for index, line in enumerate(lines):
        if SEPARATOR.match(line) or _is_header_block(lines, index):
            return index
        if (count := _attribution(lines, index)) and not _quoted(lines[index + count :]):
            return index
    return len(lines)


def _attribution(lines: list[str], start: int) -> int:
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


def _is_header_block(lines: list[str], start: int) -> bool:
    """Whether the head of an older mail begins here: `From:`, and two more fields."""
    if not HEADER_START.match(lines[start]):
        return False
    following = [line for line in lines[start + 1 : start + 9] if line.strip()][:4]
    return sum(bool(HEADER_OTHER.match(line)) for line in following) >= 2


def _without_signature(text: str) -> str:
    lines = text.split("\n")
    for index, line in enumerate(lines):
        is_mark = line == "-- " or (line.strip() in {"--", "\\--"} and len(lines) - index <= SIGNATURE_LINES)
        if is_mark:
            lines = lines[:index]
            break
    while lines and (not lines[-1].strip() or DEVICE.match(lines[-1].strip())):
        lines.pop()
    return "\n".join(lines)
