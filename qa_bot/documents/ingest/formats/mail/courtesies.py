"""Greeting and closing of a mail, which say nothing of its matter and are cut off its text."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST = 70
"""Characters of a line of a greeting or closing."""
CLOSING_LINES = 6
"""Lines below the words of a closing: names, roles, telephone numbers."""
NAMED_WORDS = 3
"""Words of a greeting that is only a name and a comma."""
_GREETING = (
    r"dear|hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|hallo|liebe[rs]?|sehr geehrte[rs]?"
    r"|verehrte[rs]?|guten (?:morgen|tag|abend)|moin|servus|bonjour|bonsoir|salut|ch[eè]re?s?|mesdames|madame|monsieur"
    r"|hola|buen[oa]s (?:días|tardes)|estimad[oa]s?|querid[oa]s?|buongiorno|gentil[ei]|car[oaie]|ciao|beste|geachte"
)
GREETING = re.compile(rf"(?:{_GREETING})\b[^.:;?,!\n]*(?:, ?(?:{_GREETING})\b[^.:;?,!\n]*)*[,!:]", re.IGNORECASE)
SHORT_GREETING = re.compile(rf"(?:{_GREETING})(?: [\w'’-]+){{0,2}}", re.IGNORECASE)
CLOSING = re.compile(
    r"(?:with )?(?:(?:kind|kindest|best|warm|warmest|many|friendly) )?(?:regards|wishes|greetings)(?: from [\w ]+)?"
    r"|all the best|yours (?:sincerely|faithfully|truly)|(?:sincerely|faithfully)(?: yours)?|cheers|best"
    r"|(?:many )?thanks(?: a lot| again| in advance)?|thank you(?: very much| in advance)?"
    r"|(?:mit )?(?:(?:freundlich|viel|lieb|best|herzlich|schön|sonnig|kollegial)(?:en?|em) )+"
    r"(?:grüßen?|grüssen?|gruß|gruss)(?: (?:aus|von|und) [\w ]+)?|gruß|mfg|vg|lg|(?:vielen )?dank(?:e)?(?: im voraus)?"
    r"|(?:bien )?cordialement|bien à vous|amicalement|cordiali saluti|(?:un )?saludos?(?: cordial(?:es)?)?"
    r"|(?:met )?(?:vriendelijke )?groet(?:en)?",
    re.IGNORECASE,
)

CONFIDENTIAL = re.compile(
    r"\W*(?:(?:this|the) (?:e-?mail|message|communication|information)\b[^.]{0,120}"
    r"\b(?:confidential|privileged|intended)"
    r"|(?:diese|die)\b[^.]{0,40}\b(?:e-?mail|nachricht|mitteilung)\b[^.]{0,120}\b(?:vertraulich|ausschließlich)"
    r"|(?:ce|le présent) (?:message|courriel|e-?mail)\b[^.]{0,120}\bconfidentiel)",
    re.IGNORECASE,
)
"""The beginning of the paragraph about confidentiality that ends the mails of companies."""


class Courteous(NamedTuple):
    """The text of a mail and what was cut off it."""

    greeting: str
    body: str
    closing: str


def without_courtesies(text: str, sender: str) -> Courteous:
    """A Markdown text, its first line if that is a greeting, and its last lines if they close it or name the sender.

    A notice of confidentiality at its end is left out. The whole text is the body if nothing else would be left.
    """
    before, _, last = text.strip().rpartition("\n\n")
    lines = (before if before and CONFIDENTIAL.match(last) else text).strip().split("\n")
    start = 1 if _is_greeting(_plain(lines[0])) else 0
    end = _closing(lines, _plain(sender.partition("<")[0]))
    body = "\n".join(lines[start:end]).strip().removesuffix("\\")
    if not body:
        return Courteous("", text, "")
    return Courteous(_joined(lines[:start]), body, _joined(lines[end:]))


def _plain(line: str) -> str:
    return line.strip().removesuffix("\\").strip(" *_\"'")


def _joined(lines: list[str]) -> str:
    return "\n".join(filter(None, map(_plain, lines)))


def _is_greeting(line: str) -> bool:
    if len(line) > LONGEST:
        return False
    is_name = (
        line.endswith(",") and len(line.split()) <= NAMED_WORDS and all(word[0].isupper() for word in line.split())
    )
    return is_name or (GREETING.fullmatch(line) or SHORT_GREETING.fullmatch(line)) is not None


def _closing(lines: list[str], sender: str) -> int:
    """The line at which the closing begins: its words, or the name of the sender after an empty line."""
    end = len(lines)
    for count in range(1, len(lines)):
        line = _plain(lines[-count])
        if len(line) > LONGEST or len(list(filter(str.strip, lines[-count:]))) > CLOSING_LINES + 1:
            break
        if CLOSING.fullmatch(line.rstrip(",.!")):
            return len(lines) - count
        if not lines[-count - 1].strip() and _is_name(line, sender):
            end = len(lines) - count
    return end


def _is_name(line: str, sender: str) -> bool:
    """Whether a line is the name of the sender, or a part of it, and perhaps a role after a comma."""
    names = set(re.findall(r"\w+", sender.casefold()))
    words = re.findall(r"\w+", re.split(r",| [–—|-] ", line.casefold())[0])
    return bool(words) and names.issuperset(words) and line[-1] not in ".?!"
