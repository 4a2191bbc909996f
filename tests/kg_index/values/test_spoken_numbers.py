from __future__ import annotations

import re
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.values.spoken_numbers import MONEY_SCALE, NUMBER, number_of

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number: int, joint: str) -> str:
    """English words, written by another hand than the reader."""
    if number < 20:
        return ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens] + (f"-{ONES[ones]}" if ones else "")
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            many, rest = divmod(number, size)
            return f"{spelled(many, joint)} {name}" + (f" {joint}{spelled(rest, joint)}" if rest else "")
    raise AssertionError


@given(st.integers(0, 10**12 - 1), st.sampled_from(["", "and "]))
def test_words_are_read_back(number: int, joint: str) -> None:
    text = spelled(number, joint if number < 1000 else "")
    assert re.fullmatch(NUMBER, text)
    assert number_of(text) == number
    assert number_of(text.upper()) == number


@given(st.integers(-(10**15), 10**15))
def test_digits_in_groups_are_read_back(number: int) -> None:
    assert number_of(f"{number:,}") == number_of(f"{number}") == number
    assert re.fullmatch(NUMBER, f"{number:,}")


@given(st.floats(0, 1e12).map(lambda value: round(value, 3)))
def test_decimals_are_read_back(number: float) -> None:
    assert number_of(f"{number:,.3f}") == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.1415 million", 3_141_500),
        ("3.5bn", 3_500_000_000),
        ("20k", 20_000),
        ("5 hundred thousand", 500_000),
        ("2 hundred", 200),
        ("6.02e23", 6.02e23),
        ("3 x 10^8", 3e8),
        ("1.5×10^-3", 0.0015),
        ("−7", -7),
        ("a hundred", 100),
        ("a hundred and one", 101),
        ("half a million", 500_000),
        ("a thousand and one", 1001),
        ("five and a half thousand", 5_500),
        ("two and a half", 2.5),
        ("Two hundred and five and three-quarters", 205.75),
        ("one and a half billion", 1.5e9),
        ("three and one quarter million", 3_250_000),
        ("2 and a half million", 2_500_000),
        ("a million and a half", 1_500_000),
        ("two billion and a half", 2.5e9),
        ("3 million and a half", 3_500_000),
        ("three quarters of a million", 750_000),
        ("a quarter of a billion", 2.5e8),
        ("two thirds of a million", pytest.approx(666_666.67)),
        ("half of a million", 500_000),
        ("nineteen eighty-four", 1984),
        ("twenty twenty", 2020),
        ("nineteen hundred", 1900),
        ("one million two hundred thousand and five", 1_200_005),
        ("seventy five", 75),
        ("1e999", inf),
    ],
)
def test_values(text: str, value: float) -> None:
    assert re.fullmatch(f"{NUMBER}{MONEY_SCALE}", text)
    assert number_of(text) == value


@pytest.mark.parametrize("text", ["v3", "1.2.3", "a", "and", "hundredth"])
def test_what_is_no_number(text: str) -> None:
    assert re.fullmatch(NUMBER, text) is None
