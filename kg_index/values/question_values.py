"""Values in a question: numbers, money, measures, dates, times and quoted strings (thesis, section 4.3.3).

Rules of our own, since what there is fits ill: dateparser fills what is not told from today's date and knows neither
"the 1990s" nor centuries, quantulum3 weighs ten megabytes and reads no dates.
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
from kg_index.values.spoken_numbers import approximate as approximate
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
        """The value in the unit's base: what makes 6 feet and 1.83 m alike."""
        return self.unit.in_base(self.value)


@dataclass(frozen=True, slots=True)
class Quoted:
    """`value` is what stands between the quotation marks."""

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
    """Values by start, none overlapping: quoted strings first, then dates, times, money, measures, plain numbers.

    What stands in quotes is one string, numbers and all. "one" alone is no number, and a year is one only where no word
    such as "in" before it makes it a date.
    """
    found: Iterable[Value] = chain(_quoted(text), find_dates(text), find_times(text))
    if ANY_NUMBER.search(text):
        found = chain(found, _money(text), _measures(text), _numbers(text))
    taken = bytearray(len(text))
    kept = []
    for value in found:
        if not any(taken[value.start : value.end]):
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
            kept.append(value)
    return sorted(kept, key=lambda value: value.start)


def graph_value(value: Value) -> float | Days | None:
    """What `TripleIndex.near` compares with typed literals: a number in the unit it is written in, or days.

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
    for found in _QUOTED.finditer(text):
        value = next(part for part in found.groups() if part is not None)
        if value.strip():
            yield Quoted(found.start(), found.end(), found[0], value)


def _money(text: str) -> Iterator[Money]:
    before, after, _, _ = _number_patterns()
    for found in before.finditer(text):
        sign = text[found.start() : found.start(1)].strip()
        yield from _sum(found, SYMBOLS.get(sign, sign), 1.0)
    for found in after.finditer(text):
        code = found[2] or (found[3] and SYMBOLS[found[3]])
        currency, factor = (code, 1.0) if code else CURRENCIES[found["name"].lower()]
        yield from _sum(found, currency, factor)


def _sum(found: re.Match[str], currency: str, factor: float) -> Iterator[Money]:
    value = number_of(found[1].strip()) * factor
    if isfinite(value):
        yield Money(found.start(), found.end(), found[0], value, currency)


def _measures(text: str) -> Iterator[Measure]:
    for found in _number_patterns()[2].finditer(text):
        written = found[2]
        unit = UNITS.get(written) or (UNITS.get(written.lower()) if len(written) > 2 else None)
        value = number_of(found[1])
        if unit is not None and isfinite(value):
            yield Measure(found.start(), found.end(), found[0], value, unit)


def _numbers(text: str) -> Iterator[Number]:
    for found in _number_patterns()[3].finditer(text):
        if found[1].lower() in ("one", "a hundred one"):
            continue
        value = number_of(found[1] + (found["letter"] or ""))
        if isfinite(value):
            yield Number(found.start(), found.end(), found[0], value, found["ordinal"] is not None)
