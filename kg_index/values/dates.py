"""Finds dates and times of day in text: "4 July 1776", "the 1990s", "3rd century BC", "5:30 p.m."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kg_index.values.literals import Days

Precision = Literal["day", "month", "year", "decade", "century"]


@dataclass(frozen=True, slots=True)
class Date:
    """A Gregorian date with the parts that the text gives; `year` is the first of a decade or century.

    Years are those of ISO 8601 and XML Schema 1.1: 1 BC is 0, 44 BC is -43.
    """

    start: int
    end: int
    text: str
    year: int | None
    month: int | None = None
    day: int | None = None
    precision: Precision = "day"

    @property
    def years(self) -> tuple[int, int] | None:
        """First and last year, None without a year."""
        if self.year is None:
            return None
        return self.year, self.year + {"decade": 9, "century": 99}.get(self.precision, 0)

    @property
    def days(self) -> Days | None:
        """First and last day, None without a year."""
        if self.years is None:
            return None
        first, last = (Days.of(year, self.month, self.day) for year in self.years)
        return Days(first.first, last.last)

    @property
    def iso(self) -> str:
        """As in a literal: "1776-07-04", "1776-07", "1776", "-0044"; "--07-04" without a year."""
        sign, year = ("-" if (self.year or 0) < 0 else ""), self.year
        parts = ["-" if year is None else f"{sign}{abs(year):04d}"]
        parts += [f"{part:02d}" for part in (self.month, self.day) if part is not None]
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, hours from 0 to 23."""

    start: int
    end: int
    text: str
    hour: int
    minute: int = 0
    second: int = 0


_MONTHS = ("jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "may", "june?", "july?", "aug(?:ust)?",
           "sept?(?:ember)?", "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?")  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first",
)  # fmt: skip
_ERA = r"(?:\s?(?P<era>BCE?|B\.C\.(?:E\.)?|CE|C\.E\.|AD|A\.D\.)(?!\w))"
_MONTH = rf"\b(?P<month>{'|'.join(_MONTHS)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = rf"(?:\d{{1,4}}(?={_ERA.replace('?P<era>', '?:')})|\d{{3,4}})(?!\d|[.,:]\d)"
_SPACE, _MAYBE = r"\s{1,3}", r"\s{0,3}"  # bounded, for linear time in a run of spaces
_OF_YEAR = rf"(?P<year>{_YEAR}){_ERA}?"
_IN_YEAR = rf"(?:(?:of|in){_SPACE})?{_OF_YEAR}"
_YEAR2 = r"-(?P<year2>\d{4})"
_CENTURY = rf"(?P<century>\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(reversed(_ORDINALS))})"

_PATTERNS: tuple[tuple[Precision, str], ...] = (
    ("day", r"(?<![\w-])(?P<minus>-?)(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?![\w-])"),
    ("day", rf"(?<![\w.,]){_DAY}(?:{_SPACE}of)?[\s-]{{1,3}}{_MONTH}(?:{_MAYBE},?{_MAYBE}{_IN_YEAR}|{_YEAR2})?"),
    ("day", rf"{_MONTH}{_SPACE}(?:the{_SPACE})?{_DAY}(?![\w:%]|[.,]\d)(?:{_MAYBE},?{_SPACE}{_IN_YEAR})?"),
    ("day", r"(?<![\w/])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})(?![\w/])"),
    ("month", rf"{_MONTH}(?:{_SPACE}of)?,?{_SPACE}{_OF_YEAR}"),
    ("decade", r"(?<![\w.,-])(?P<year>\d{3}0)[’']?s\b"),
    ("decade", r"(?<!\w)[’'](?P<decade>\d0)[’']?s\b"),
    ("century", rf"\b{_CENTURY}[\s-]{{1,3}}century\b{_ERA}?"),
    ("year", r"\b(?:AD|A\.D\.)\s?(?P<year>\d{1,4})(?!\w)"),
    ("year", rf"(?<![\w.,-])(?P<year>\d{{1,4}}){_ERA}"),
    ("year", r"\b(?:in|since|until|till|before|after|during|by|year|from|around|circa|late|early|mid)\s{1,3}"
             r"(?P<year>[12]\d{3})(?![\w%]|[.,:]\d|-\d|\s{0,3}(?:people|percent))"),
)  # fmt: skip
_DATES = [(precision, re.compile(pattern, re.IGNORECASE)) for precision, pattern in _PATTERNS]
_ANY = re.compile(r"\d|century", re.IGNORECASE)  # every date has one
_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\w:.])(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?::(?P<second>\d{2}))?\s?(?P<half>[ap]\.?m\b\.?)",
        r"(?<![\w:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?![\w:])",
        r"(?<![\w:.])(?P<hour>\d{1,2})\s?(?P<half>[ap]\.?m\b\.?)",
        r"(?<![\w:.])(?P<hour>\d{1,2})\s+o[’']clock\b",
        r"\b(?P<named>noon|midday|midnight)\b",
    )
)


def find_dates(text: str) -> Iterator[Date]:
    """Dates, the most specific kinds first; spans may overlap those of a later kind.

    A month needs a day or a year ("may" is not a date), a bare year needs a word such as "in" before it. 7/4/1776 is
    read month first if that month exists. Of a day that does not exist, such as 31 February 2020, the month remains.
    """
    if not _ANY.search(text):
        return
    for precision, pattern in _DATES:
        for match in pattern.finditer(text):
            if (date := _date(precision, match)) is not None:
                yield date


def find_times(text: str) -> Iterator[Time]:
    """Times of day, the most specific kinds first; spans may overlap."""
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            if (time := _time(match)) is not None:
                yield time


def _date(precision: Precision, match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    year, month, day = _year(parts), _month(parts), _day(parts)
    if not _possible(year, month, day) or re.fullmatch("0+", parts.get("year") or "1"):
        return None
    start = match.start("year") if precision == "year" and not match[0][:1].isdigit() else match.start()
    if match[0][:1] in "Aa" and precision == "year" and match[0][1:2] in "dD.":
        start = match.start()  # "AD 79", but not "after 1979"
    text = match.string[start : match.end()]
    return Date(start, match.end(), text, year, month, day, precision)


def _year(parts: dict[str, str | None]) -> int | None:
    before_christ = (parts.get("era") or "").upper().startswith("B")
    if (century := parts.get("century")) is not None:
        number = int(century[:-2]) if century[0].isdigit() else _ORDINALS.index(century.lower()) + 1
        return 1 - 100 * number if before_christ else 100 * number - 99
    if (decade := parts.get("decade")) is not None:
        return 1900 + int(decade)
    year = parts.get("year") or parts.get("year2")
    if year is None or parts.get("minus") == "-":
        return None if year is None else -int(year)
    return 1 - int(year) if before_christ else int(year)


def _month(parts: dict[str, str | None]) -> int | None:
    if name := parts.get("month"):
        return next(i for i, month in enumerate(_MONTHS, start=1) if re.fullmatch(month, name, re.IGNORECASE))
    if number := parts.get("number"):
        return int(number)
    if (first := parts.get("first")) and (second := parts.get("second")):
        return int(first) if int(first) <= 12 else int(second)
    return None


def _day(parts: dict[str, str | None]) -> int | None:
    if (first := parts.get("first")) and (second := parts.get("second")):
        return int(second) if int(first) <= 12 else int(first)
    return int(day) if (day := parts.get("day")) else None


def _possible(year: int | None, month: int | None, day: int | None) -> bool:
    if month is None:
        return True
    try:
        Days.of(2000 if year is None else year, month, day)  # without a year, 29 February is possible
    except ValueError:
        return False
    return True


def _time(match: re.Match[str]) -> Time | None:
    parts = match.groupdict()
    if named := parts.get("named"):
        return Time(match.start(), match.end(), match[0], 0 if named.lower() == "midnight" else 12)
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Time(match.start(), match.end(), match[0], hour, minute, second)
