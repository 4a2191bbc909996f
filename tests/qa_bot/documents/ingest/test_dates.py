"""Dates that documents state."""

import datetime

import pytest

from qa_bot.documents.ingest.dates import first_day, is_date, iso_date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.date(2024, 3, 5), "2024-03-05"),
        ("2024-03-05", "2024-03-05"),
        ("2024-3-5 and more", "2024-03-05"),
        ("2024-03-05T10:20:30.123Z", "2024-03-05T10:20:30+00:00"),
        ("2024-03-05 10:20 +0100", "2024-03-05T10:20+0100"),
        ("2024/03/05", "2024-03-05"),
        ("5.3.2024", "2024-03-05"),
        ("05. 03. 2024", "2024-03-05"),
        ("03/25/2024", "2024-03-25"),
        ("25/03/2024", "2024-03-25"),
        ("04/04/2024", "2024-04-04"),
        ("03/04/2024", ""),
        ("March 5, 2024", "2024-03-05"),
        ("Tuesday, 5 Mar 2024", "2024-03-05"),
        ("5th of March 2024", "2024-03-05"),
        ("5. März 2024", "2024-03-05"),
        ("1er août 2024", "2024-08-01"),
        ("5 de marzo de 2024", "2024-03-05"),
        ("Tue, 05 Mar 2024 10:00:00 +0100", "2024-03-05T10:00:00+01:00"),
        ("2024-13-05", ""),
        ("Tue, 99 Mar 2024 10:00", ""),
        ("soon", ""),
        ("", ""),
        (None, ""),
        (2024, ""),
    ],
)
def test_dates(value, expected):
    assert iso_date(value) == expected


@pytest.mark.parametrize(
    "text", ["12 March 2024", "Tuesday, 5. März 2024", "March 12, 2024", "2024-03-12", "12.3.2024"]
)
def test_a_text_that_is_only_a_date(text):
    assert is_date(f" {text} ")
    assert not is_date(f"{text} in the club")
    assert not is_date(f"{text}\n{text}")


@pytest.mark.parametrize("text", ["", "12 Monkeys 2024", "32 March 2024", "March 2024", "12"])
def test_a_text_that_is_no_date(text):
    assert not is_date(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-03", "2024-03-01"),
        ("03/2024", "2024-03-01"),
        ("März 2010", "2010-03-01"),
        (2019, "2019-01-01"),
        (20110102, "2011-01-02"),
        ("2024-13", ""),
        ("Version 3", ""),
        (True, ""),
        (None, ""),
    ],
)
def test_the_first_day_of_a_month_or_year(value, expected):
    assert first_day(value) == expected
