"""Finds values in a question: numbers, money, measures, dates, times and quoted strings (Wang (2018), ch. 4.3.3).

Hand-written rules: dateparser completes dates from today's and knows neither "the 1990s" nor centuries; quantulum3
takes ten megabytes and reads no dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import isfinite

from kg_index.values.dates import Date, Time, find_dates, find_times
from kg_index.values.literals import Days
from kg_index.values.spoken_numbers import ANY_NUMBER, MONEY_SCALE, NUMBER, number_of
from kg_index.values.units import CODES, CURRENCIES, SYMBOLS, UNITS, Unit


@dataclass(frozen=True, slots=True)
class Number:
    start: int
    end: int
    text: str
    value: float
    ordinal: bool = False  # "the 44th"


@dataclass(frozen=True, slots=True)
class Money:
    """`value` in whole units of the `currency`, an ISO 4217 code: 50 cents are .5 USD."""

    start: int
    end: int
    text: str
    value: float
    currency: str


@dataclass(frozen=True, slots=True)
class Measure:
    start: int
    end: int
    text: str
    value: float
    unit: Unit

    @property
    def in_base(self) -> float:
        """The value in the base unit, to compare 6 feet with 1.83 m."""
        return self.unit.in_base(self.value)


@dataclass(frozen=True, slots=True)
class Quoted:
    """`value` is the text between the quotation marks."""

    start: int
    end: int
    text: str
    value: str


Value = Number | Money | Measure | Date | Time | Quoted

_QUOTED = re.compile(
    r'"([^"\n]{1,200})"|“([^”\n]{1,200})”|«\s?([^»\n]{1,200}?)\s?»|„([^“”\n]{1,200})[“”]|‘([^’\n]{1,200})’(?!\w)'
    r"|(?<![\w'])'([^'\n]{1,200})'(?!\w)"
)


@cache
def _number_patterns() -> tuple[re.Pattern[str], ...]:
    """Patterns of money before and after its number, measures and plain numbers: large, so compiled when needed."""
    codes, names = "|".join(sorted(CODES)), _alternatives(CURRENCIES)
    return (
        re.compile(rf"(?:{'|'.join(map(re.escape, SYMBOLS))}|\b(?:{codes}))\s?(?={NUMBER})({NUMBER}{MONEY_SCALE})"),
        re.compile(rf"({NUMBER}{MONEY_SCALE})[\s-]?(?:({codes})|([€£¥₹₩₽])|(?i:(?P<name>{names})s?))(?!\w)"),
        re.compile(rf"({NUMBER})[\s-]?((?i:{_alternatives(UNITS)}))(?![\w²³/])"),
        re.compile(rf"({NUMBER})(?:(?P<ordinal>st|nd|rd|th)|(?P<letter>k|K|M|bn|B))?(?![\w]|[.,]\d)"),
    )


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def find_values(text: str) -> list[Value]:
    """Values by start, without overlaps: quoted strings win over dates, then times, money, measures, plain numbers.

    Numbers inside quotes belong to the string. "one" alone is not a number. A year is a number unless a word such as
    "in" makes it a date.
    """
    values: Iterable[Value] = chain(_quoted(text), find_dates(text), find_times(text))
    if ANY_NUMBER.search(text):
        values = chain(values, _money(text), _measures(text), _numbers(text))
    taken = bytearray(len(text))
    chosen = []
    for value in values:
        if not any(taken[value.start : value.end]):
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
            chosen.append(value)
    return sorted(chosen, key=lambda value: value.start)


def graph_value(value: Value) -> float | Days | None:
    """The value that `TripleIndex.near` compares with literals: a number in the written unit, or days.

    None for times of day, quoted strings and dates without a year.
    """
    match value:
        case Number() | Money() | Measure():
            return value.value
        case Date():
            return value.days
        case _:
            return None


def _quoted(text: str) -> Iterator[Quoted]:
    for match in _QUOTED.finditer(text):
        value = next(part for part in match.groups() if part is not None)
        if value.strip():
            yield Quoted(match.start(), match.end(), match[0], value)


def _money(text: str) -> Iterator[Money]:
    before, after, _, _ = _number_patterns()
    for match in before.finditer(text):
        sign = text[match.start() : match.start(1)].strip()
        yield from _sum(match, SYMBOLS.get(sign, sign), 1.0)
    for match in after.finditer(text):
        code = match[2] or (match[3] and SYMBOLS[match[3]])
        currency, factor = (code, 1.0) if code else CURRENCIES[match["name"].lower()]
        yield from _sum(match, currency, factor)


def _sum(match: re.Match[str], currency: str, factor: float) -> Iterator[Money]:
    value = number_of(match[1].strip()) * factor
    if isfinite(value):
        yield Money(match.start(), match.end(), match[0], value, currency)


def _measures(text: str) -> Iterator[Measure]:
    for match in _number_patterns()[2].finditer(text):
        written = match[2]
        unit = UNITS.get(written) or (UNITS.get(written.lower()) if len(written) > 2 else None)
        value = number_of(match[1])
        if unit is not None and isfinite(value):
            yield Measure(match.start(), match.end(), match[0], value, unit)


def _numbers(text: str) -> Iterator[Number]:
    for match in _number_patterns()[3].finditer(text):
        if match[1].lower() in ("one", "a hundred one"):
            continue
        value = number_of(match[1] + (match["letter"] or ""))
        if isfinite(value):
            yield Number(match.start(), match.end(), match[0], value, match["ordinal"] is not None)
