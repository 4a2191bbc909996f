"""Greeting and closing of a mail, which say nothing of its matter and are cut off its text."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST = 70
"""Characters of a line of a greeting or closing."""
CLOSING_LINES = 6
"""Lines below the words of a closing: names, roles, a telephone number."""
SIGNATURE_LINES = 12
"""Lines below the words of a closing if they are a signature."""
CONTACTS = 2
"""Lines of a signature with a telephone number or address; one alone is a part of the closing."""
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
"""The beginning of the notice about confidentiality that ends the mails of companies."""
CONTACT = re.compile(
    r"\b(?:tele(?:ph|f)one?|telefon|tel|phone|fax|mobile?|mob|cell|handy|[tmf])\b[.:]*\s*[+(\d][\d\s()/.-]{4,}"
    r"|\bwww\.\w|https?://|\w@[\w-]+\.\w|^[+(\d][\d\s()/-]{6,}$",
    re.IGNORECASE,
)
SEPARATOR = re.compile(r"\s[|·•]\s")
FURTHER_TEXT = re.compile(r"p\.?\s?s\b|[-*+>|#] ?\S|\d+[.)] |(?:\S+\s+){4,}\S+[.!?]$", re.IGNORECASE)
"""A postscript, item, quotation or sentence below a closing."""


class Courteous(NamedTuple):
    """The text of a mail and what was cut off it."""

    greeting: str
    body: str
    closing: str


def without_courtesies(text: str, sender: str) -> Courteous:
    """A Markdown text, its first line if that is a greeting, and its last lines if they close it or name the sender.

    A notice of confidentiality at its end is left out, and so is a signature below the closing. The whole text is the
    body if nothing else would be left.
    """
    name = _plain(sender.partition("<")[0])
    lines = _without_notice(text.strip().split("\n"), name)
    start = 1 if _is_greeting(_plain(lines[0])) else 0
    end = _closing(lines, name)
    body = "\n".join(lines[start:end]).strip().removesuffix("\\")
    if not body:
        return Courteous("", text, "")
    return Courteous("\n".join(_filled(lines[:start])), body, "\n".join(_without_signature(_filled(lines[end:]))))


def _without_notice(lines: list[str], sender: str) -> list[str]:
    """The lines before a notice of confidentiality, which is the last paragraph, or the lines below a closing in it."""
    for index in range(len(lines) - 1, 0, -1):
        is_paragraph = not lines[index - 1].strip()
        if CONFIDENTIAL.match("\n".join(lines[index:])) and (is_paragraph or _closing(lines[:index], sender) < index):
            return "\n".join(lines[:index]).rstrip().split("\n")
        if is_paragraph:
            break
    return lines


def _plain(line: str) -> str:
    return line.strip().removesuffix("\\").strip(" *_\"'")


def _filled(lines: list[str]) -> list[str]:
    return list(filter(None, map(_plain, lines)))


def _without_signature(closing: list[str]) -> list[str]:
    """The words and name of a closing if a signature is below them, else all its lines."""
    names = [line for line in closing[:2] if not _is_row(line)]
    count = len(names) if closing and _is_closing(closing[0]) else 1
    return closing[:count] if _is_signature(closing[count:]) else closing


def _is_signature(lines: list[str]) -> bool:
    """Whether lines have contacts, or a firm and more in a row, and no text."""
    contacts = sum(CONTACT.search(line) is not None for line in lines)
    return (contacts >= CONTACTS or any(map(_is_row, lines))) and not any(map(FURTHER_TEXT.match, lines))


def _is_row(line: str) -> bool:
    """Whether a line is a row such as "Facilities | Acme Ltd. | Tel. 0555 0177"."""
    separators = len(SEPARATOR.findall(line))
    return separators > 1 or (separators > 0 and CONTACT.search(line) is not None)


def _is_closing(line: str) -> bool:
    return CLOSING.fullmatch(line.rstrip(",.!")) is not None


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
        line, below = _plain(lines[-count]), _filled(lines[len(lines) - count + 1 :])
        if (len(line) > LONGEST and not _is_row(line)) or len(below) > SIGNATURE_LINES:
            break
        if len(below) > CLOSING_LINES and not _is_signature(below):
            continue
        if _is_closing(line):
            return len(lines) - count
        if not lines[-count - 1].strip() and _is_name(line, sender):
            end = len(lines) - count
    return end


def _is_name(line: str, sender: str) -> bool:
    """Whether a line is the name of the sender, or a part of it, and perhaps a role after a comma."""
    names = set(re.findall(r"\w+", sender.casefold()))
    words = re.findall(r"\w+", re.split(r",| [–—|-] ", line.casefold())[0])
    return bool(words) and names.issuperset(words) and line[-1] not in ".?!"
