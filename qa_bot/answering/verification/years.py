"""Years and versions of a question that a passage lacks, though it has others: "prices 2025" are not those of 2023.

A passage without any year may hold for all of them. One that holds "from 2024", or for a range, holds for later years.
"""

from __future__ import annotations

import re

_YEAR = re.compile(
    r"(?:\b(?:the|in|for|of|since|until|during|year|season|im|für|von|seit|bis|jahr|en|pour|depuis)\s)"
    r"((?:19|20)\d\d)(?![\w%]|[.,-]\d)|(?<![\w.,/-])((?:19|20)\d\d)(?=\W*$)",
    re.IGNORECASE,
)
"""After a preposition, or at the end: not "2000 rooms"."""
_ANY_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEARS = re.compile(r"((?:19|20)\d\d)\s*(?:[-–—/]|to|bis|and|und|à|until|through)\s*((?:19|20)?\d\d)(?!\d)")
_VERSION = re.compile(r"(?<![\w.,])\d+(?:\.\d+)+(?![\w%]|[.,]\d)")
_OPEN = re.compile(
    r"\b(?:since|from|as of|after|starting|beginning|valid|effective|ab|seit|gültig|gilt|stand|nach|dès|depuis)\b"
    r"(?:[^.;\n|]|(?<=\d)\.){0,40}?(?<!\d)((?:19|20)\d\d)(?!\d)",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:since|as of|from|or|and|oder|und|ab|seit|at least|mindestens)\s(?:\w+\s)?(?:version\s)?"
    r"(?:\d|later|newer|higher|above|up|greater|neuer|höher|später)",
    re.IGNORECASE,
)
_AFTER = r"since|from|as of|after|starting|beginning|ab|seit|nach|dès|depuis|après"
_BORN = r"born|births?|geboren\w*|jahrg[aä]nge?n?|née?s?"
_MONTH = r"(?:jan|f[eé]b|f[eé]v|m[aä]r|a[pv]r|ma[iy]|ju[iln]|aug|ao[uû]|sep|o[ck]t|nov|de[cz]|déc)\w*\.?"
_DATE = (
    rf"(?:(?:in|on|the|years?|im|am|dem|den|en|le|les|or|oder|ou|and|und|et|{_AFTER}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.)?,?|{_MONTH})\s+)*(?:19|20)\d\d(?!\d)"
)
_BIRTH_YEAR = re.compile(
    rf"(?:\b(?:{_AFTER})\s+(?:the\s+)?)?\b(?:{_BORN})\s+{_DATE}(?:\s+(?:or|and|oder|und|ou|et)\s+\w+)?"
    rf"|\b(?:{_AFTER})\s+{_DATE}\s+(?:{_BORN})\b",
    re.IGNORECASE,
)
"""A year of birth: "born in 1990 or later" and "nach dem 1. Mai 1990 geboren" say nothing about later years."""


_PAST = re.compile(
    r"\b(?:was|were|did|had|war|waren|kostete\w*|hatte\w*|gab|betrug\w*)\b(?=.*(?<!\d)((?:19|20)\d\d)(?!\d))",
    re.IGNORECASE,
)
"""Asks how something was in a year."""


def is_of_another_time(question: str, text: str) -> bool:
    """Whether a text is about other years or versions than the question."""
    return lacks_year(question, text) or lacks_version(question, text)


def lacks_past(question: str, text: str) -> bool:
    """Whether a question asks how something was in a year that a text, its date included, does not have.

    Rules and prices without a year are those of today.
    """
    past = _PAST.search(question)
    return past is not None and past[1] not in _ANY_YEAR.findall(text) and not _includes(past[1], text)


def names_time(question: str, text: str) -> bool:
    """Whether a text has a year or a version that the question names."""
    years = {first or last for first, last in _YEAR.findall(question)}
    versions = set(_VERSION.findall(question))
    return bool(years & set(_ANY_YEAR.findall(text)) or versions & set(_VERSION.findall(text)))


def lacks_year(question: str, text: str) -> bool:
    """Whether a text has years, but none that a question names, and does not hold for it either."""
    named_years = {first or last for first, last in _YEAR.findall(question)}
    begun_in = _OPEN.findall(_BIRTH_YEAR.sub(" ", text)) if named_years else []
    years = set(_ANY_YEAR.findall(text)) - set(begun_in) if named_years else set()
    if not years or named_years & {*years, *begun_in}:
        return False
    return not any(_includes(year, text) for year in named_years)


def _includes(year: str, text: str) -> bool:
    """Whether a text has a range of years with this one, or holds from an earlier one on."""
    begun = min(_OPEN.findall(_BIRTH_YEAR.sub(" ", text)), default="9999")
    spans = [(first, first[: 4 - len(last)] + last) for first, last in _YEARS.findall(text)]
    return year >= begun or any(first <= year <= last for first, last in spans)


def lacks_version(question: str, text: str) -> bool:
    """Whether a text has versions, but none that a question names, and none is open to later ones."""
    named_versions = set(_VERSION.findall(question))
    versions = set(_VERSION.findall(text)) if named_versions else set()
    if not versions or _LATER.search(_BIRTH_YEAR.sub(" ", text)):
        return False
    return not any(f"{other}.".startswith(f"{version}.") for version in named_versions for other in versions)
