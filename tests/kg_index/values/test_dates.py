from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.values.dates import Date, Time, find_dates, find_times
from kg_index.values.literals import Days

SHAPES = [
    "{0:%Y}-{0:%m}-{0:%d}",
    "{0.day} {0:%B} {0:%Y}",
    "{0.day} {0:%b} {0:%Y}",
    "{0:%B} {0.day}, {0:%Y}",
    "{0:%b}. {0.day} {0:%Y}",
    "{0:%B} {0.day}th {0:%Y}",
    "the {0.day}th of {0:%B}, {0:%Y}",
    "{0.month}/{0.day}/{0:%Y}",
    "{0.day:02}-{0:%b}-{0:%Y}",
]


@given(st.dates(datetime.date(1000, 1, 1)), st.sampled_from(SHAPES))
def test_days_are_read_back(day: datetime.date, shape: str) -> None:
    text = f"who was born on {shape.format(day)}?"
    value = next(find_dates(text))
    assert (value.iso, value.precision) == (day.isoformat(), "day")
    assert text[value.start : value.end] == value.text
    assert shape.format(day).endswith(value.text.removeprefix("the "))


@pytest.mark.parametrize(
    ("text", "span", "iso", "years"),
    [
        ("4 July 1776", "4 July 1776", "1776-07-04", (1776, 1776)),
        ("on July the 4th", "July the 4th", "--07-04", None),
        ("the 5th of november", "5th of november", "--11-05", None),
        ("15 March 44 BC", "15 March 44 BC", "-0043-03-15", (-43, -43)),
        ("in may 2020", "may 2020", "2020-05", (2020, 2020)),
        ("December of 1941", "December of 1941", "1941-12", (1941, 1941)),
        ("in the 1990s", "1990s", "1990", (1990, 1999)),
        ("the '60s", "'60s", "1960", (1960, 1969)),
        ("the 3rd century BC", "3rd century BC", "-0299", (-299, -200)),
        ("the 3rd century", "3rd century", "0201", (201, 300)),
        ("twenty-first century films", "twenty-first century", "2001", (2001, 2100)),
        ("in 44 B.C.", "44 B.C.", "-0043", (-43, -43)),
        ("in AD 79", "AD 79", "0079", (79, 79)),
        ("800 CE", "800 CE", "0800", (800, 800)),
        ("who won in 1998?", "1998", "1998", (1998, 1998)),
        ("After 1979.", "1979", "1979", (1979, 1979)),
        ("13/7/1999", "13/7/1999", "1999-07-13", (1999, 1999)),
        ("29 February 2000", "29 February 2000", "2000-02-29", (2000, 2000)),
        ("29 February 1 BC", "29 February 1 BC", "0000-02-29", (0, 0)),
    ],
)
def test_dates(text: str, span: str, iso: str, years: tuple[int, int] | None) -> None:
    value = next(find_dates(text))
    assert (value.text, value.iso, value.years) == (span, iso, years)
    assert text[value.start : value.end] == span


@pytest.mark.parametrize(
    "text",
    ["may i march", "who wrote 1984", "2020-13-01", "2021-02-29", "31/31/1999", "in 1998 people", "in 3000", "0 BC",
     "room 12345-01-01", "the 44th president", "century", "in 1984.5", ""],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert list(find_dates(text)) == []


def test_of_an_impossible_day_the_month_is_left() -> None:
    assert [date.iso for date in find_dates("31 February 2020")] == ["2020-02"]
    assert [date.iso for date in find_dates("29 Feb 1900")] == ["1900-02"]


def test_days_are_those_that_the_graph_compares() -> None:
    text = "July 2, 1970; May 1970; the 1970s; the 1st century; 5 May"
    days = {date.text: date.days for date in find_dates(text)}
    assert days["July 2, 1970"] == Days(182, 182)
    assert days["May 1970"] == Days(120, 150)
    assert days["1970s"] == Days(0, 3651)
    assert days["1st century"] == Days(value_of_day(1, 1, 1), value_of_day(100, 12, 31))
    assert days["5 May"] is None


def value_of_day(year: int, month: int, day: int) -> int:
    return datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()


def test_a_date_tells_its_place() -> None:
    assert next(find_dates("x 1776-07-04")) == Date(2, 12, "1776-07-04", 1776, 7, 4, "day")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("at 17:45", (17, 45, 0)),
        ("17:45:09", (17, 45, 9)),
        ("5:30 p.m.", (17, 30, 0)),
        ("12 am", (0, 0, 0)),
        ("12pm", (12, 0, 0)),
        ("5 o'clock", (5, 0, 0)),
        ("at noon", (12, 0, 0)),
        ("midnight", (0, 0, 0)),
    ],
)
def test_times(text: str, time: tuple[int, int, int]) -> None:
    value = next(find_times(text))
    assert (value.hour, value.minute, value.second) == time
    assert text[value.start : value.end] == value.text


@pytest.mark.parametrize("text", ["25:00", "13 pm", "10:75", "1:2", "12:34:56:78", "5 amps"])
def test_what_is_no_time(text: str) -> None:
    assert list(find_times(text)) == []


@given(st.times(), st.booleans())
def test_times_are_read_back(time: datetime.time, half: bool) -> None:
    text = f"{time:%I:%M:%S %p}" if half else f"{time:%H:%M:%S}"
    assert next(find_times(text)) == Time(0, len(text), text, time.hour, time.minute, time.second)
