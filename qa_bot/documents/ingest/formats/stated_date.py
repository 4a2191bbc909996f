"""The date that a text states of itself in its first or last lines: "Last updated: 3 March 2025", "Stand: 12.03.2024".

If it states none, that of its title ("Minutes of 24 September 2025"), its first heading or its file's name
("2025-09-24-committee"). Only unambiguous dates count: 03/04/2024 does not. A month with a label ("Stand: Januar 2026")
is its first day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

_MONTHS = (
    "january jan januar jänner jän janvier janv enero gennaio januari",
    "february feb februar février févr fevrier febrero febbraio februari",
    "march mar märz maerz mrz mars marzo maart",
    "april apr avril avr abril aprile",
    "may mai mayo maggio mei",
    "june jun juni juin junio giugno",
    "july jul juli juillet juil julio luglio",
    "august aug août aout agosto augustus",
    "september sep sept septembre septiembre settembre",
    "october oct oktober okt octobre octubre ottobre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre dicembre",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
"""Names of months in six languages."""

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = (
    r"(?:(?P<iso>\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{4}年\d{1,2}月\d{1,2}(?=日))(?!\d)"
    r"|(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er)?[ -](?:de |of )?"
    rf"(?P<month>{_MONTH})\.?,?[ -](?:de )?(?P<year>\d{{4}})(?!\d)"
    rf"|(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})(?!\d)"
    r"|(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})(?!\d)"
    r"|(?P<slashed>\d{1,2}/\d{1,2}/\d{4})(?!\d))"
)
_MONTH_ALONE = (
    rf"(?:(?P<month>{_MONTH})\.?,?[ -](?:de |of )?(?P<year>\d{{4}})|(?P<number>0?[1-9]|1[0-2])/(?P<year2>\d{{4}})"
    r"|(?P<number2>0[1-9]|1[0-2])\.(?P<year3>\d{4})|(?P<year4>\d{4})-(?P<number3>0[1-9]|1[0-2]))(?![\w/.-]*\d)"
)
_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? |(?:montag|dienstag|mittwoch|donnerstag|freitag),? "
    r"|(?:mon|tue|wed|thu|fri|sat|sun)[.,]{1,2} |(?:mo|di|mi|do|fr|sa|so)[.,]{1,2} )?"
)
_BEFORE = r"on|at|the|as of|from|since|am|vom|den|ab|le|du|au|el|il|op"
_GAP = rf"[\s*_|:：–—-]{{0,8}}(?:(?:{_BEFORE})\b[\s:*_]{{0,5}})?{_WEEKDAY}"
_CHANGED = (
    r"(?:last|latest|most recently|recently)[ -](?:updated?|modified|modification|revised|revision|reviewed|review"
    r"|changed?|edited)|date (?:of (?:last )?(?:update|revision|change)|updated|modified|revised)"
    r"|zuletzt (?:aktualisiert|geändert|bearbeitet|überarbeitet|geprüft)"
    r"|letzte (?:aktualisierung|änderung|überarbeitung|bearbeitung|prüfung)"
    r"|dernière (?:mise à jour|modification|révision)|mise? à jour"
    r"|última (?:actualización|modificación)|ultimo aggiornamento|laatst (?:bijgewerkt|gewijzigd)"
    r"|最終更新日?|更新日|最[后後]更新(?:日期|时间)?|更新日期"
)
_STATED = (
    r"updated|revised|modified|reviewed|effective(?: date)?|in effect|valid|as of|date|published|issued|version"
    r"|stand|datum|gültig|veröffentlicht|aktualisiert|fassung|en vigueur|date d[’']effet|publié|valable"
    r"|actualizado|fecha|aggiornato|bijgewerkt"
)
_PATTERNS = tuple(
    re.compile(f"{label}{_GAP}{stated}", re.IGNORECASE)
    for label in (rf"(?<![^\W_])(?:{_CHANGED})", rf"^(?:[\s*_>|(\[#]*(?:{_STATED})|- (?:{_STATED})(?=:))")
    for stated in (_DATE, _MONTH_ALONE)
)
"""Labels that count anywhere in a line, then labels that count at its start, in an item before a colon.

Of each, full dates are before months.
"""
_ANYWHERE = re.compile(rf"(?<![^\W_])(?<!\d[.,/-]){_DATE}(?!\.\d)", re.IGNORECASE)
_IN_NAME = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_]?)(?P<month>\d\d)(?P=sign)(?P<day>\d\d)(?!\d)")
EARLIEST, LATEST = 1970, 2100
EARLIEST_IN_NAME = 1990
"""Eight digits that begin with an earlier year are rather a number."""


def stated_date(lines: Sequence[str]) -> str:
    """The date of the first line with a label and a date or month as `YYYY-MM-DD`; "" if no line has one."""
    for pattern in _PATTERNS:
        for line in lines:
            for match in pattern.finditer(line[:500]):
                if iso := _iso(match) if "day" in match.re.groupindex else _first_of_month(match):
                    return iso
    return ""


def named_date(title: str, heading: str, name: str) -> str:
    """The first full date in a title, else in the first heading, else in the file's name without its ending."""
    for text in (title, heading, name):
        for match in _ANYWHERE.finditer(text):
            if iso := _iso(match):
                return iso
    for match in _IN_NAME.finditer(name):
        year, month, day = (int(match[part]) for part in ("year", "month", "day"))
        if year >= EARLIEST_IN_NAME and (iso := _existing(year, month, day)):
            return iso
    return ""


def _iso(match: re.Match[str]) -> str:
    """The date of a match, if it exists and is unambiguous."""
    parts = match.groupdict()
    if parts["iso"]:
        year, month, day = map(int, re.findall(r"\d+", parts["iso"]))
    elif parts["dotted"]:
        day, month, year = map(int, parts["dotted"].split("."))
    elif parts["slashed"]:
        first, second, year = map(int, parts["slashed"].split("/"))
        if first <= 12 and second <= 12 and first != second:
            return ""
        day, month = max(first, second), min(first, second)
    else:
        name = parts["month"] or parts["month2"]
        day, year = int(parts["day"] or parts["day2"]), int(parts["year"] or parts["year2"])
        month = MONTHS[name.lower()]
    return _existing(year, month, day)


def _first_of_month(match: re.Match[str]) -> str:
    parts = match.groupdict()
    number = parts["number"] or parts["number2"] or parts["number3"]
    month = int(number) if number else MONTHS[parts["month"].lower()]
    return _existing(int(next(filter(None, (parts[f"year{n}"] for n in ("", 2, 3, 4))))), month, 1)


def _existing(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat() if EARLIEST <= year <= LATEST else ""
    except ValueError:
        return ""
