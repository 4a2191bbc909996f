"""Months and days of the week that a passage has in another form.

"2026-02-17" and "17.02." are in February, and "Monday to Friday" has Wednesday.
"""

from __future__ import annotations

import re

from qa_bot.documents.ingest.dates import MONTHS
from qa_core.text.analysis import words

_ISO = r"(?:19|20)\d\d-(\d\d)(?:-\d\d)?"
_WITH_POINTS = r"\d{1,2}\.\s?(\d{1,2})\.(?:\s?(?:19|20)?\d\d)?"
_DATE = re.compile(rf"(?<![\d.-])(?:{_ISO}|{_WITH_POINTS})(?![\d-])")
_DAYS = (
    "monday mon montag mo lundi lun",
    "tuesday tue tues dienstag di mardi mar",
    "wednesday wed mittwoch mi mercredi mer",
    "thursday thu thur thurs donnerstag do jeudi jeu",
    "friday fri freitag fr vendredi ven",
    "saturday sat samstag sonnabend sa samedi sam",
    "sunday sun sonntag so dimanche dim",
)
_NUMBERS = {name: number for number, names in enumerate(_DAYS) for name in names.split()}
WEEKDAYS = {
    form: number
    for name, number in _NUMBERS.items()
    if len(name) > 4 and name != "thurs"
    for form in (name, f"{name}s")
}
_SHORT = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_SPAN = re.compile(rf"\b({_SHORT})s?\.?\s*(?:[-–—]|to|through|till|until|bis|au?|à)\s*({_SHORT})s?\b", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:^[ \t>*+-]*|[|,;:(/&+][ \t]*|\b(?:und|and|et) )"
    r"(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|Mo|Di|Mi|Do|Fr|Sa|So|Lun|Mer|Jeu|Ven|Sam|Dim)\.?"
    r"(?=[ \t]*(?:$|[|,;)/&+:]|\d|(?:und|and|et|ab|from|closed|geschlossen|fermé)\b))",
    re.MULTILINE,
)
"""A short name between the signs of a list or table, or before a time: "Mon 8-12", "| Di |"."""
_GROUPS = (
    (r"daily|every day|each day|any day|all week|24/7|round the clock", range(7)),
    (r"täglich|jeden tag|rund um die uhr|tous les jours", range(7)),
    (r"weekdays?|working days?|werktags?|werktagen?|wochentags?|en semaine", range(6)),
    (r"weekends?|wochenende\w*|week-end", (5, 6)),
    (r"sonn-", (6,)),
)
"""Words for several days of the week, of which Saturday is a working day in German, and "Sonn- und Feiertage"."""
_NAME = re.compile(rf"\b({'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})\b", re.IGNORECASE)


def month_of(word: str) -> int:
    """The number of a month by its name in several languages, 0 for other words."""
    return MONTHS.get(word.casefold(), 0)


def months_in(text: str) -> set[int]:
    """The months of the dates in a text: ISO 8601, or day, month and perhaps year with points."""
    return {int(first or second) for first, second in _DATE.findall(text)} & set(range(1, 13))


def weekday_of(word: str) -> int | None:
    """The number of a day of the week by its English, German or French name, Monday being 0."""
    return WEEKDAYS.get(word.casefold())


def weekdays_in(text: str) -> set[int]:
    """The days of the week that a text names, alone, in short, from one to another, or by "daily" and the like."""
    days = {WEEKDAYS[name.casefold()] for name in _NAME.findall(text)}
    days.update(_NUMBERS[name.casefold()] for name in _ALONE.findall(text))
    for first, last in _SPAN.findall(text):
        start, length = _NUMBERS[first.casefold()], (_NUMBERS[last.casefold()] - _NUMBERS[first.casefold()]) % 7
        days.update((start + offset) % 7 for offset in range(length + 1))
    for names, group in _GROUPS:
        days.update(group if re.search(rf"\b(?:{names})(?!\w)", text, re.IGNORECASE) else ())
    return days


def named_days(question: str, text: str) -> frozenset[str]:
    """The months and days of the week in a question that a text has in any form, casefolded."""
    months, days = months_in(text), weekdays_in(text)
    return frozenset(word for word in words(question) if month_of(word) in months or weekday_of(word) in days)
