"""Months in dates."""

import pytest

from qa_bot.answering.verification.calendar_names import month_of, months_in, weekdays_in


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("| 2026-02-17 | crack |", {2}),
        ("2026-03 and 2026-11-04T10:00", {3, 11}),
        ("from 6.5. to 20.12.2026", {5, 12}),
        ("version 4.3.1, 10.3 bar, 12-03-45, +49 761 555-0112", set()),
        ("at 9.00. Then 2026-00-10.", set()),
        ("", set()),
    ],
)
def test_months_of_dates(text: str, months: set[int]) -> None:
    assert months_in(text) == months


@pytest.mark.parametrize(("word", "number"), [("February", 2), ("März", 3), ("juillet", 7), ("belt", 0)])
def test_names_of_months(word: str, number: int) -> None:
    assert month_of(word) == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Monday to Wednesday", {0, 1, 2}),
        ("Fr–Mo", {4, 5, 6, 0}),
        ("mardi et jeudi", {1, 3}),
        ("werktags", {0, 1, 2, 3, 4, 5}),
        ("only at weekends", {5, 6}),
        ("24/7", {0, 1, 2, 3, 4, 5, 6}),
        ("sun and sat by the sea, so we did", set()),
    ],
)
def test_days_of_the_week_are_named_alone_in_ranges_and_together(text, expected):
    assert weekdays_in(text) == expected
