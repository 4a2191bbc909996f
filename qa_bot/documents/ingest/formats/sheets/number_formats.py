"""Numbers of a spreadsheet in their formats: percentages, amounts, dates and times in ISO 8601.

Source of the formats: ECMA-376-1, 18.8.30 and 18.8.31.
"""

from __future__ import annotations

import math
import operator
import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    # 5 to 8 and 41 to 44 are in the currency of the system
    **dict.fromkeys((5, 6, 41, 42), "#,##0"),
    **dict.fromkeys((7, 8, 43, 44), "#,##0.00"),
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    **dict.fromkeys((14, 15, 16, 17, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 55, 56), "hh:mm"),
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "0.0E+0",
}
"""Formats that files name by number only."""

EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # sheets have no time zones
LAST_DAY = 2_958_465  # 9999-12-31
LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
TIME_PART = re.compile(r"(\[)?(h+|m+|s+)\]?(?:\.(0{1,6}))?", re.IGNORECASE)
UNITS = {"h": (3600, 24), "m": (60, 60), "s": (1, 60)}
"""Letter of a part of a time → its seconds, and how many of it the next larger part has."""
DIGITS = re.compile(r"[0#?](?:.*[0#?])?[,.]*")
CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
HOLDS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
SIGNS = re.compile(r"[\s()+\-−–—]+")
SECTIONS, MOST_COMMAS = 4, 9
GENERAL_DIGITS, NUMBER_DIGITS = 11, 15
_SHOWN_ONLY = {sign: 0xE000 + sign for sign in range(128)}
"""Characters of literals are private ones while a format is read, so that a "0" among them is no digit."""
_SHOWN = {private: sign for sign, private in _SHOWN_ONLY.items()}


class Format(NamedTuple):
    """A number format: what stands around the digits, and how they are written.

    The last `optional` decimals ("0.##") are left out if they are zeros; so is a point without decimals, which Excel
    shows ("5."). `template` has the whole digits with the signs among them ("000-00"), if there are signs or leading
    zeros; for elapsed time it is the whole format. If `condition`, such as "<=" and 999, does not hold, the format is
    `otherwise`.
    """

    kind: str = "general"  # or number, words, date, time, datetime, elapsed
    before: str = ""
    after: str = ""
    decimals: int = 0
    optional: int = 0
    has_thousands: bool = False
    is_percent: bool = False
    is_scientific: bool = False
    template: str = ""
    divisor: int = 1
    condition: tuple[str, float] = ("=", 0)
    otherwise: Format | None = None
    has_sign: bool = False  # it is for negative numbers, and has their sign or a word for it

    @property
    def words(self) -> str:
        """What is around the digits, without signs and parentheses."""
        return SIGNS.sub("", self.before + self.after)


def shown(number: float, format_: Format, *, is_1904: bool = False) -> str:
    """A number in its format."""
    while format_.otherwise is not None and not HOLDS[format_.condition[0]](number, format_.condition[1]):
        format_ = format_.otherwise
    if format_.kind in {"date", "time", "datetime"}:
        return _date(number, format_.kind, is_1904=is_1904)
    if format_.kind == "elapsed":
        return _elapsed(number, format_)
    if format_.kind == "words":
        return format_.before
    if format_.kind == "general":
        return general(number)
    scaled = (number * 100 if format_.is_percent else number) / format_.divisor
    if format_.is_scientific:
        return f"{format_.before}{scaled:.{format_.decimals}E}{format_.after}"
    digits = f"{_half_up(abs(scaled)):{',' if format_.has_thousands else ''}.{format_.decimals}f}"
    sign = "-" if number < 0 and not format_.has_sign and digits.strip("0.,") else ""
    whole, _, decimals = digits.partition(".")
    needed = len(decimals) - format_.optional
    decimals = decimals[:needed] + decimals[needed:].rstrip("0")
    if format_.template:
        whole = _filled(format_.template, whole)
    digits = f"{whole}.{decimals}" if decimals else whole
    return f"{sign}{format_.before}{digits}{format_.after}".strip()


def _half_up(number: float) -> float:
    """A number that is rounded as in Excel, which looks at 15 digits and rounds halves up."""
    return math.nextafter(float(f"{number:.{NUMBER_DIGITS}g}"), math.inf) if number % 1 else number


def _filled(template: str, digits: str) -> str:
    """The template with the digits in their places from the right; the first place takes all that are left."""
    left = list(digits)
    signs = [(left.pop() if left else sign.strip("#?")) if sign in "0#?" else sign for sign in reversed(template)]
    return "".join(left + signs[::-1]).translate(_SHOWN)


def general(number: float) -> str:
    """A number without a format: a whole one without decimals, another with 11 digits."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.{GENERAL_DIGITS}g}"


@lru_cache(maxsize=1024)
def parse_format(code: str) -> Format:
    """A format from its code ("#,##0.00 €").

    The part for positive numbers counts for all, unless parts have conditions, or the others have their words ("none").
    """
    sections = _sections(code)[:SECTIONS]
    if any(map(CONDITION.search, sections)):
        return _conditional(*sections)
    first, *others = map(_format, sections)
    format_ = first
    for sign, other in zip("<=", others, strict=False):
        if first.kind == "words" or (other.words and other.words != first.words):
            format_ = other._replace(condition=(sign, 0), otherwise=format_, has_sign=sign == "<")
    return format_


def _conditional(section: str, *others: str) -> Format:
    """A format whose parts have conditions."""
    condition, format_ = CONDITION.search(section), _format(section)
    if condition is None or not others:
        return format_
    return format_._replace(condition=(condition[1], float(condition[2])), otherwise=_conditional(*others))


def _format(section: str) -> Format:
    if section.strip().lower() in {"general", "@", "", "standard"}:
        return Format()
    signs = LITERAL.sub("", section).lower()
    if not re.search(r"[ymdhs]", signs):
        return _number_format(section)
    is_date, is_time = bool(re.search(r"[yd]|^m+$", signs)), bool(re.search(r"[hs]|\[m", signs))
    is_clock = "h" in signs and not re.search(r"\[[hms]|s\]?\.0", signs)
    if is_time and not is_date and not is_clock:
        text = LITERAL.sub(_literal, section)
        decimals = max((len(part[3] or "") for part in TIME_PART.finditer(text)), default=0)
        return Format("elapsed", decimals=decimals, template=text)
    return Format("datetime" if is_date and is_time else "time" if is_time else "date")


def _number_format(section: str) -> Format:
    text = LITERAL.sub(_literal, section)
    digits = DIGITS.search(text)
    if digits is None or "/" in text:  # only words, or a fraction
        words = text.translate(_SHOWN).strip()
        return Format("words", words) if words and not re.search(r"[@/a-z]", text, re.IGNORECASE) else Format()
    body, exponent, _ = digits[0].lower().partition("e")
    whole, _, decimals = body.rstrip(",").partition(".")
    template = whole.rstrip(",")
    commas = len(body) - len(body.rstrip(",")) + len(whole) - len(template)
    places = re.sub(r"[^0#?]", "", decimals)
    is_plain = "," in template or ("00" not in template and not template.strip("0#?"))
    return Format(
        "number",
        text[: digits.start()].translate(_SHOWN).lstrip(),
        text[digits.end() :].translate(_SHOWN).rstrip(),
        decimals=len(places),
        optional=len(places) - len(places.rstrip("#?")),
        has_thousands="," in template,
        is_percent="%" in text,
        is_scientific=bool(exponent),
        template="" if is_plain else template,
        divisor=1000 ** min(commas, MOST_COMMAS),
    )


def _sections(code: str) -> list[str]:
    """The parts of a format between semicolons outside of quotation marks."""
    quoted, start = False, 0
    sections = []
    for position, sign in enumerate(code):
        if sign == '"':
            quoted = not quoted
        elif sign == ";" and not quoted and code[position - 1 : position] != "\\":
            sections.append(code[start:position])
            start = position + 1
    return [*sections, code[start:]]


def _literal(match: re.Match[str]) -> str:
    """What a literal of a format shows; the space of `_x` only beside digits."""
    if match[0][0] in "_*":
        return " " if match[0][0] == "_" and match[0][1] not in "()-" else ""
    return (match[1] or match[2] or match[3] or "").translate(_SHOWN_ONLY)


def _date(number: float, kind: str, *, is_1904: bool) -> str:
    if not 0 <= number <= LAST_DAY:
        return general(number)
    moment = (EPOCH_1904 if is_1904 else EPOCH) + timedelta(seconds=round(number * 86_400))
    clock = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    if kind == "time" and number < 1:
        return clock
    if kind == "date" and (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return moment.date().isoformat()
    return f"{moment.date().isoformat()} {clock}" if kind != "date" else moment.date().isoformat()


def _elapsed(number: float, format_: Format) -> str:
    """A length of time ("75:05.30"), rounded to its last decimal. A part in brackets counts what is beyond it too."""
    if abs(number) > LAST_DAY:
        return general(number)
    decimals = format_.decimals
    seconds, fraction = divmod(round(abs(number) * 86_400 * 10**decimals), 10**decimals)

    def part(match: re.Match[str]) -> str:
        size, most = UNITS[match[2][0].lower()]
        count = seconds // size if match[1] else seconds // size % most
        return f"{count:0{min(len(match[2]), 2)}}" + (f".{fraction:0{decimals}}" if match[3] else "")

    return f"{'-' if number < 0 else ''}{TIME_PART.sub(part, format_.template).translate(_SHOWN).strip()}"
