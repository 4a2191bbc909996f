"""What literals say: their text, and the value of numbers and dates, to be compared with what a question gives.

(XML Schema 1.1, Part 2: Datatypes; approximate lookup as in the thesis, 4.3.3.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite

XSD = "http://www.w3.org/2001/XMLSchema#"
_WHOLE = "long int short byte unsignedLong unsignedInt unsignedShort unsignedByte"
_SIGNED = "integer nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger"
_NUMBERS = frozenset(XSD + name for name in f"decimal double float {_SIGNED} {_WHOLE}".split())  # read easier
_DATES = frozenset(XSD + name for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
_DATE = re.compile(r"(-?\d{4,9})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+)?)?)?(?:Z|[+-]\d\d:\d\d)?")
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tbnrf"\'\\]))')
_CONTROLS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal taken apart; `datatype` is empty for plain text and text with a language tag."""

    text: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class Days:
    """A date, month or year: its first and last day, counted from 1 January 1970 in the Gregorian calendar."""

    first: int
    last: int

    @classmethod
    def of(cls, year: int, month: int | None = None, day: int | None = None) -> Days:
        """Year 0 is 1 BC. Raises ValueError for a date that the calendar lacks."""
        if month is None:
            return cls(_day_number(year, 1, 1), _day_number(year, 12, 31))
        length = _month_length(year, month)
        if day is None:
            return cls(_day_number(year, month, 1), _day_number(year, month, length))
        if not 1 <= day <= length:
            raise ValueError(f"Expected a day from 1 to {length} in month {month} of {year}, but got {day}.")
        number = _day_number(year, month, day)
        return cls(number, number)


Value = float | Days


def literal(term: str) -> Literal | None:
    """None for an IRI or a blank node."""
    if term[:1] != '"':
        return None
    end = term.rindex('"')
    text, tail = term[1:end], term[end + 1 :]
    plain = _ESCAPE.sub(_unescaped, text) if "\\" in text else text
    if tail.startswith("^^"):
        return Literal(plain, datatype=tail[3:-1])
    return Literal(plain, language=tail[1:])


def value_of(term: str) -> Value | None:
    """The number or date that a typed literal tells; None for anything else, also for NaN, infinity and 30 February."""
    found = literal(term) if term.endswith(">") else None
    if found is None:
        return None
    if found.datatype in _NUMBERS:
        return _number(found.text)
    return _date(found.text) if found.datatype in _DATES else None


def near(found: Value, wanted: Value, tolerance: float) -> bool:
    """Whether two numbers differ by at most that share of the larger one, or two dates by at most that many days.

    A date within a month or year that the other gives differs by none. A number is never near a date.
    """
    if isinstance(found, Days) and isinstance(wanted, Days):
        return max(found.first - wanted.last, wanted.first - found.last) <= tolerance
    if isinstance(found, Days) or isinstance(wanted, Days):
        return False
    return abs(found - wanted) <= tolerance * max(abs(found), abs(wanted))


def _number(text: str) -> float | None:
    try:
        number = float(text) if "_" not in text else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None


def _date(text: str) -> Days | None:
    parts = _DATE.fullmatch(text.strip())
    try:
        return Days.of(*(int(part) for part in parts.groups() if part)) if parts else None
    except ValueError:
        return None


def _month_length(year: int, month: int) -> int:
    if not 1 <= month <= 12:
        raise ValueError(f"Expected a month from 1 to 12, but got {month}.")
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTHS[month - 1]


def _day_number(year: int, month: int, day: int) -> int:
    """Days since 1 January 1970; years are counted from March, so that the leap day is a year's last."""
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719_469


def _unescaped(escape: re.Match[str]) -> str:
    short, long, control = escape.groups()
    return _CONTROLS.get(control, control) if control else chr(int(short or long, 16))
