"""Reads the dates that documents state about themselves as ISO 8601."""

from __future__ import annotations

import datetime
import re
from email.utils import parsedate_to_datetime

LONGEST = 60  # characters of a date with its time
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio januari",
            "february feb februar février fevrier febrero febbraio februari",
            "march mar märz maerz mars marzo maart",
            "april apr avril abril aprile",
            "may mai mayo maggio mei",
            "june jun juni juin junio giugno",
            "july jul juli juillet julio luglio",
            "august aug août aout agosto augustus",
            "september sep sept septembre septiembre settembre",
            "october oct oktober okt octobre octubre ottobre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre decembre diciembre dicembre",
        ),
        1,
    )
    for name in names.split()
}
ISO = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)")
DAY_FIRST = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)")
DAY_MONTH = re.compile(
    r"(?:[^\W\d]+,?\s+)?(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+|of\s+)?([^\W\d]+)\.?,?\s+(?:de\s+)?(\d{4})"
)
MONTH_DAY = re.compile(r"(?:[^\W\d]+,\s+)?([^\W\d]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")
MONTH = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?:[-/.](?P<number>\d{1,2}))?|(?:(?P<name>[^\W\d]+)\.?\s+|(?P<first>\d{1,2})[/.])(?P<last>\d{4})"
)
PATTERNS = (ISO, YEAR_FIRST, DAY_FIRST, SLASHES, DAY_MONTH, MONTH_DAY)


def iso_date(value: object) -> str:
    """The date, or date and time, of a `date` or of a text that begins with one; "" if it is none or ambiguous.

    `03/04/2024` is ambiguous, `03/25/2024` and `3.4.2024` (day first) are not.
    """
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if not isinstance(value, str):
        return ""
    text = value.strip()[:LONGEST]
    return _numeric(text) or _mail_date(text) or _named(text)


def first_day(value: object) -> str:
    """The first day of the month or year that a text or number names: "2024-03", "März 2010", 2019; 20110102 is a day.

    It is "" for others.
    """
    text = str(value).strip() if isinstance(value, str | int) else ""
    if match := COMPACT.fullmatch(text):
        return _date(*match.groups())
    match = MONTH.fullmatch(text)
    if match is None:
        return ""
    month = MONTHS.get(match["name"].lower(), 0) if match["name"] else match["number"] or match["first"] or 1
    return _date(match["year"] or match["last"], month, 1)


def is_date(text: str) -> bool:
    """Whether a text is a date in words or digits, and nothing else."""
    stripped = text.strip()
    return (
        len(stripped) <= LONGEST
        and any(pattern.fullmatch(stripped) for pattern in PATTERNS)
        and bool(_numeric(stripped) or _named(stripped))
    )


def _numeric(text: str) -> str:
    if match := ISO.match(text):
        time, zone = match[4], match[5] or ""
        date = _date(match[1], match[2], match[3])
        return f"{date}T{time}{zone.replace('Z', '+00:00')}" if date and time else date
    if match := YEAR_FIRST.match(text):
        return _date(*match.groups())
    if match := DAY_FIRST.match(text):
        return _date(match[3], match[2], match[1])
    if match := SLASHES.match(text):
        first, second = int(match[1]), int(match[2])
        if first > 12 or first == second:
            return _date(match[3], match[2], match[1])
        return _date(match[3], match[1], match[2]) if second > 12 else ""
    return ""


def _named(text: str) -> str:
    if (match := DAY_MONTH.match(text)) and (month := MONTHS.get(match[2].lower())):
        return _date(match[3], month, match[1])
    if (match := MONTH_DAY.match(text)) and (month := MONTHS.get(match[1].lower())):
        return _date(match[3], month, match[2])
    return ""


def _mail_date(text: str) -> str:
    if "," not in text or ":" not in text:
        return ""
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError):
        return ""


def _date(year: str | int, month: str | int, day: str | int) -> str:
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
