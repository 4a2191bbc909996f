"""Literals of a graph: their text, and the values of numbers and dates, compared with a tolerance.

(XML Schema 1.1, Part 2: Datatypes; approximate lookup: Wang (2018), ch. 4.3.3.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

XSD = "http://www.w3.org/2001/XMLSchema#"
_WHOLE = "long int short byte unsignedLong unsignedInt unsignedShort unsignedByte"
_SIGNED = "integer nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger"
_NUMBERS = frozenset(XSD + name for name in f"decimal double float {_SIGNED} {_WHOLE}".split())
_DATES = frozenset(XSD + name for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
_DATE = re.compile(r"(-?\d{4,9})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+)?)?)?(?:Z|[+-]\d\d:\d\d)?")
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tbnrf"\'\\]))')
_CONTROLS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Literal:
    """The parts of a literal; `datatype` is empty for plain and language-tagged text."""

    text: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class Days:
    """A date, month or year as its first and last day, in days since 1 January 1970 (Gregorian calendar)."""

    first: int
    last: int

    @classmethod
    def of(cls, year: int, month: int | None = None, day: int | None = None) -> Days:
        """Year 0 is 1 BC. Raises ValueError for a date that does not exist."""
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
SameValue = Callable[[Value, Value], bool]


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
    """The number or date of a typed literal; None for other terms, NaN, infinity and dates that do not exist."""
    parts = literal(term) if term.endswith(">") else None
    if parts is None:
        return None
    if parts.datatype in _NUMBERS:
        return _number(parts.text)
    return _date(parts.text) if parts.datatype in _DATES else None


def near(a: Value, b: Value, tolerance: float) -> bool:
    """Whether two numbers differ by at most `tolerance` times the larger one, or two dates by `tolerance` days.

    A date is near any month or year that contains it. A number is never near a date.
    """
    if isinstance(a, Days) and isinstance(b, Days):
        return max(a.first - b.last, b.first - a.last) <= tolerance
    if isinstance(a, Days) or isinstance(b, Days):
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def same_digits(a: Value, b: Value, digits: int) -> bool:
    """Whether two numbers are equal once rounded to `digits` significant digits; dates never are.

    Wang (2018), ch. 4.3.3, indexes 3.1415 million as 3.14 × 10^6.
    """
    if isinstance(a, Days) or isinstance(b, Days):
        return False
    return f"{a:.{digits - 1}e}" == f"{b:.{digits - 1}e}"


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
    """Days since 1 January 1970; years start in March here, so that the leap day comes last."""
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719_469


def _unescaped(escape: re.Match[str]) -> str:
    short, long, control = escape.groups()
    return _CONTROLS.get(control, control) if control else chr(int(short or long, 16))
