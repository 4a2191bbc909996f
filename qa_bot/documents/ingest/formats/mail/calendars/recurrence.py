"""Writes the rule of an event that is repeated as words: "every 2 weeks on Wednesday until 2026-12-16" (RFC 5545)."""

from __future__ import annotations

import re

UNITS = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DAY = re.compile(rf"([+-]?\d{{1,3}})?({'|'.join(DAYS)})")
NUMBER = re.compile(r"[+-]?\d{1,3}")
IN_WORDS = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "UNTIL", "COUNT", "WKST"}


def rule_in_words(value: str) -> str:
    """A rule in words; what has none follows unchanged, as does a rule without a frequency."""
    parts = {name.strip(): text for name, _, text in (part.partition("=") for part in value.upper().split(";"))}
    if (unit := UNITS.get(parts.get("FREQ", ""))) is None:
        return value
    interval = parts.get("INTERVAL", "1")
    words = [f"every {unit}" if interval == "1" else f"every {interval} {unit}s"]
    others: list[str] = []
    if days := _days(parts):
        words.append(f"on {days}")
    if "BYMONTH" in parts:
        words.append(f"in {_listed([_month(number) for number in parts['BYMONTH'].split(',')])}")
    if until := re.match(r"(\d{4})(\d\d)(\d\d)", parts.get("UNTIL", "")):
        words.append(f"until {'-'.join(until.groups())}")
    if "COUNT" in parts:
        others.append("once" if parts["COUNT"] == "1" else f"{parts['COUNT']} times")
    others += [f"{name.lower()} {text}" for name, text in parts.items() if name and name not in IN_WORDS]
    return ", ".join([" ".join(words), *others])


def _days(parts: dict[str, str]) -> str:
    """The days of a rule: "Monday and Friday", "the 2nd Tuesday", "the 15th", "the last of Monday and Tuesday"."""
    days = _listed([_day(text) for text in parts.get("BYDAY", "").split(",") if text])
    numbers = _listed([_day_of_month(text) for text in parts.get("BYMONTHDAY", "").split(",") if text])
    joined = " if it is ".join(filter(None, (numbers, days)))
    places = [_position(text) for text in parts.get("BYSETPOS", "").split(",") if text]
    if not places or not joined:
        return joined
    return f"{_listed(places)} {'of ' if ' ' in joined else ''}{joined}"


def _day(text: str) -> str:
    """A day of the week; "2TU" is the second Tuesday, "-1FR" the last Friday."""
    match = DAY.fullmatch(text)
    if match is None:
        return text
    return f"{_position(match[1])} {DAYS[match[2]]}" if match[1] else DAYS[match[2]]


def _day_of_month(text: str) -> str:
    return f"{_position(text)} day" if text[0] == "-" else _position(text)


def _position(text: str) -> str:
    """A number as a position: "the 2nd"; those below zero count from the end."""
    if not NUMBER.fullmatch(text):
        return text
    number = abs(int(text))
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    if text[0] != "-":
        return f"the {number}{ending}"
    return "the last" if number == 1 else f"the {number}{ending} last"


def _month(text: str) -> str:
    return MONTHS[int(text) - 1] if text.isascii() and text.isdigit() and 0 < int(text[:3]) <= len(MONTHS) else text


def _listed(texts: list[str]) -> str:
    """Texts as a list in a sentence: "Monday, Tuesday and Friday"."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
