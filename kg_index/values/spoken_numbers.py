"""Reads numbers in text: "1,000", "3.1415 million", "two hundred and five", "five and a half thousand", "6.02e23"."""

from __future__ import annotations

import re
from decimal import Decimal

_ONES = {w: i for i, w in enumerate("one two three four five six seven eight nine".split(), start=1)}  # noqa: SIM905
_TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "quadrillion": 10**15,
}  # fmt: skip
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "mm": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12, "t": 10**12}
_FRACTIONS = {"half": 2, "third": 3, "quarter": 4}
_SMALL = {"zero": 0, **_ONES, **_TEENS, **_TENS}


def _any(words: dict[str, int]) -> str:
    return f"(?:{'|'.join(words)})"


_ONE, _TEEN, _TEN, _SCALE = map(_any, (_ONES, _TEENS, _TENS, _SCALES))
# Runs of spaces and chains of words are bounded, for linear time on any text.
_SPACE, _GAP = r"\s{1,3}", r"[\s-]{1,3}"
_AND = rf"(?:and{_SPACE})?"
_BELOW_100 = rf"(?:{_TEN}(?:{_GAP}{_ONE}\b)?|{_TEEN}|{_ONE})\b"
_BELOW_1000 = rf"(?:(?:an?|{_BELOW_100}){_GAP}hundred\b(?:{_SPACE}{_AND}{_BELOW_100})?|{_BELOW_100})"
_GROUP = rf"(?:an?|{_BELOW_1000}){_GAP}{_SCALE}\b"
_GROUPS = rf"{_GROUP}(?:,?{_SPACE}{_AND}{_GROUP}){{0,4}}(?:,?{_SPACE}{_AND}{_BELOW_1000})?"
_YEAR = rf"(?:{_TEEN}|twenty){_GAP}(?:{_TEN}(?:{_GAP}{_ONE}\b)?|{_TEEN})\b(?!{_GAP}(?:hundred|{_SCALE})\b)"
_HALF = rf"half{_SPACE}an?{_SPACE}{_SCALE}\b"
_AND_PART = rf"{_SPACE}and{_SPACE}(?:(?:an?|one){_GAP}(?:half|quarter)|three{_GAP}quarters)\b(?:{_GAP}{_SCALE}\b)?"
_AND_HALF = rf"{_SPACE}and{_SPACE}an?{_GAP}half\b"
_PART_OF = rf"(?:(?:(?:an?|{_ONE}){_GAP})?(?:half|thirds?|quarters?)){_SPACE}of{_SPACE}(?:an?|one){_SPACE}{_SCALE}\b"
_WORDS = rf"(?:{_GROUP}{_AND_HALF}|{_BELOW_1000}{_AND_PART}|{_PART_OF}|{_HALF}|{_YEAR}|{_GROUPS}|{_BELOW_1000}|zero\b)"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!,?\d)|\d{1,30})(?:\.\d{1,30})?"
_POWER = r"(?:[eE][+-]?\d{1,3}(?!\w)|\s?[x×]\s?10\^[+-]?\d{1,3})"
_SIGN = r"(?:(?<![\w.,)-])[-−–](?=\d))?"

NUMBER = (
    rf"(?:{_SIGN}(?<![\w.])(?<!\d,){_DIGITS}(?:{_POWER}|(?i:{_AND_PART})|[\s-]{{0,3}}(?:hundred{_SPACE})?(?i:{_SCALE}(?:{_AND_HALF}|s?\b))|\s?hundred\b)?"
    rf"|\b(?i:{_WORDS}))"
)
"""A number in digits, with an optional power or scale word, or in words; also the start of "5km" or "5th"."""

ANY_NUMBER = re.compile(rf"\d|\b(?:{'|'.join((*_SMALL, 'hundred', *_SCALES))})\b", re.IGNORECASE)
"""If this does not match, neither does `NUMBER`; it takes a tenth of the time."""

MONEY_SCALE = r"(?:\s?(?i:mn|mm|bn|tn|k|m|b|t)\b)?"
"""Letters after a sum of money; "5m" without a currency is five metres."""

_SPELLED_YEAR = re.compile(_YEAR, re.IGNORECASE)
_DIGITS_FIRST = re.compile(rf"(?P<digits>[-−–]?{_DIGITS})(?P<power>{_POWER})?(?P<scale>.*)", re.DOTALL)
_MIXED = re.compile(
    rf"(?P<whole>.+?)\s+and\s+(?P<part>\w+[\s-]+(?:half|quarters?))(?:[\s-]+(?P<scale>{_SCALE}))?", re.IGNORECASE
)
_SCALED_HALF = re.compile(rf"(?P<whole>.+?)[\s-]+(?P<scale>{_SCALE})\s+and\s+an?[\s-]+half", re.IGNORECASE)
_PARTS = re.compile(rf"(?P<part>.+?)\s+of\s+\w+\s+(?P<scale>{_SCALE})", re.IGNORECASE)


def number_of(text: str) -> float:
    """The value of a match of `NUMBER`, with or without letters of `MONEY_SCALE`; infinite beyond the floats.

    "nineteen eighty-four" is 1984, "nineteen hundred" 1900, "two and a half" 2.5, "a million and a half"
    1.5 million.
    """
    if (match := _SCALED_HALF.fullmatch(text)) is not None:
        whole = 1.0 if match["whole"].lower() in ("a", "an") else number_of(match["whole"])
        return (whole + 0.5) * _SCALES[match["scale"].lower()]
    if (match := _MIXED.fullmatch(text)) is not None:
        return (number_of(match["whole"]) + _fraction(match["part"])) * _SCALES.get((match["scale"] or "").lower(), 1)
    if (match := _PARTS.fullmatch(text)) is not None:
        return _fraction(match["part"]) * _SCALES[match["scale"].lower()]
    if (match := _DIGITS_FIRST.fullmatch(text)) is None:
        return float(_spelled(text.lower()))
    value = Decimal(re.sub("[−–]", "-", match["digits"]).replace(",", ""))
    if match["power"]:
        value = value.scaleb(int(re.split(r"[eE^]", match["power"])[-1]))
    for word in re.findall(r"[a-z]+", match["scale"].lower()):
        value *= 100 if word == "hundred" else _SCALES.get(word.removesuffix("s")) or _LETTERS[word]
    return float(value)


def _fraction(text: str) -> float:
    """ "three quarters" is .75, "half" .5."""
    *many, name = re.split(r"[\s-]+", text.lower())
    return (_ONES.get(many[0], 1) if many else 1) / _FRACTIONS[name.removesuffix("s")]


def _spelled(text: str) -> int:
    words = [word for word in re.split(r"[\s,-]+", text) if word not in ("a", "an", "and")]
    if words[0] == "half":
        return _SCALES[words[1]] // 2
    if _SPELLED_YEAR.fullmatch(text):
        return 100 * _SMALL[words[0]] + sum(_SMALL[word] for word in words[1:])
    total = group = 0
    for word in words:
        if word == "hundred":
            group = max(group, 1) * 100
        elif word in _SCALES:
            total, group = total + max(group, 1) * _SCALES[word], 0
        else:
            group += _SMALL[word]
    return total + group
