"""Months in dates."""

import pytest

from qa_bot.answering.verification.calendar_names import month_of, months_in, named_days, weekdays_in


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


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Mon 8-12\nTue 14-17\nWed closed", {0, 1, 2}),
        ("| Mo | 8-12 Uhr |\n| Di | 14-18 Uhr |", {0, 1}),
        ("Sprechzeit: Mo, Di und Do 8-12 Uhr", {0, 1, 3}),
        ("- Fr: geschlossen", {4}),
        ("So it is. Do not enter. The sun is hot. Sat down.", set()),
        ("Das ist so. Sa geht es.", set()),
    ],
)
def test_short_names_between_signs_or_before_times(text: str, days: set[int]) -> None:
    assert weekdays_in(text) == days


def test_named_days_are_those_that_the_text_has_in_any_form() -> None:
    text = "| Mo-Mi | 8-12 |\nBooked until 2026-02-17."
    assert named_days("Open on Tuesday or Friday in February?", text) == {"tuesday", "february"}
