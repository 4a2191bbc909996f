"""Raised and struck text within lines: exponents, numbers of notes, what is crossed out.

A reader marks each run. The marks are resolved when the line is complete, because programs divide text into many runs.
"""

from __future__ import annotations

import re

# Unicode noncharacters, which never occur in text.
RAISED, RAISED_END, STRUCK, STRUCK_END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
MARK = re.compile(f"[{RAISED}{RAISED_END}{STRUCK}{STRUCK_END}]")
RAISED_TEXT = re.compile(rf"{RAISED}(\s*)([^{RAISED}{RAISED_END}]*?)(\s*){RAISED_END}")
STRUCK_TEXT = re.compile(rf"{STRUCK}(\s*)([^{STRUCK}{STRUCK_END}]*?)(\s*){STRUCK_END}")
SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
EXPONENT = re.compile(r"[-+−]?\d{1,3}|\d[-+−]")
NOTES = re.compile(r"(\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*)\)?")
FRACTION = re.compile(r"[/⁄]\d")
LAST_WORD = re.compile(r"[^\W_]*$")
LONGEST_UNIT = 2  # letters: "km"
LOOK_BACK = 30  # characters


def marked(text: str, *, is_raised: bool = False, is_struck: bool = False) -> str:
    """A run with marks around it; white space alone needs none."""
    if not text.strip():
        return text
    text = f"{RAISED}{text}{RAISED_END}" if is_raised else text
    return f"{STRUCK}{text}{STRUCK_END}" if is_struck else text


def unmarked(text: str) -> str:
    """The text of runs alone."""
    return MARK.sub("", text)


def resolved(text: str) -> str:
    """A line with its marks as text: "10³ m²", "water [1]", "~~old~~"."""
    if not MARK.search(text):
        return text
    text = text.replace(f"{STRUCK_END}{STRUCK}", "").replace(f"{RAISED_END}{RAISED}", "")
    return unmarked(STRUCK_TEXT.sub(r"\1~~\2~~\3", RAISED_TEXT.sub(_raised, text)))


def _raised(match: re.Match[str]) -> str:
    """An exponent after a figure or a short unit; the number of a note after other text, unless it begins the line."""
    before = unmarked(match.string[max(0, match.start() - LOOK_BACK) : match.start()])
    text, word = match[2], LAST_WORD.findall(before)[0]
    is_number = word[-1:].isdigit()
    if is_number and FRACTION.match(unmarked(match.string[match.end() :][:3])):  # 3 1/2
        text = f" {text}"
    elif EXPONENT.fullmatch(text) and (is_number or 0 < len(word) <= LONGEST_UNIT):
        text = text.translate(SUPERSCRIPTS)
    elif before.strip() and (notes := NOTES.fullmatch(text)):
        text = f"[{notes[1]}]" if before[-1].isspace() or match[1] else f" [{notes[1]}]"
    return f"{match[1]}{text}{match[3]}"
