import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.values.literals import XSD, Days, Literal, literal, near, same_digits, value_of


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ('"Denton"@en', Literal("Denton", language="en")),
        ('"say \\"hi\\"\\n\\u00e9\\\\"', Literal('say "hi"\né\\')),
        (f'"1983"^^<{XSD}gYear>', Literal("1983", datatype=f"{XSD}gYear")),
        ('""', Literal("")),
        ("http://example.org/", None),
        ("_:b0", None),
    ],
)
def test_literals_are_taken_apart(term, expected):
    assert literal(term) == expected


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [
        ("41000000", "integer", 4.1e7),
        ("-1.5", "decimal", -1.5),
        ("3.14e6", "double", 3_140_000.0),
        ("NaN", "double", None),
        ("INF", "double", None),
        ("1_000", "integer", None),
        ("many", "integer", None),
        ("1983", "gYear", Days(4748, 5112)),
        ("1970-01-01", "date", Days(0, 0)),
        ("1970-02", "gYearMonth", Days(31, 58)),
        ("2000-02-29T23:00:00Z", "dateTime", Days(11016, 11016)),
        ("1970-01-02+01:00", "date", Days(1, 1)),
        ("2001-02-29", "date", None),
        ("2001-13-01", "date", None),
        ("-0043", "gYear", Days.of(-43)),
        ("soon", "date", None),
        ("41", "string", None),
    ],
)
def test_values_of_typed_literals(text, datatype, value):
    assert value_of(f'"{text}"^^<{XSD}{datatype}>') == value


def test_plain_text_has_no_value():
    assert value_of('"1983"') is None
    assert value_of('"1983"@en') is None
    assert value_of("http://example.org/1983>") is None


@given(st.dates())
def test_days_are_those_of_the_calendar(date):
    number = (date - datetime.date(1970, 1, 1)).days
    assert Days.of(date.year, date.month, date.day) == Days(number, number)
    assert value_of(f'"{date.isoformat()}"^^<{XSD}date>') == Days(number, number)


def test_years_before_christ_follow_one_another():
    assert Days.of(0).last + 1 == Days.of(1).first
    assert Days.of(-1).last + 1 == Days.of(0).first
    assert Days.of(0).last - Days.of(0).first == 365  # 1 BC has a leap day


def test_near_compares_numbers_by_share_and_dates_by_days():
    assert near(3.1415e6, 3.14e6, 0.001)
    assert not near(3.1415e6, 3.0e6, 0.001)
    assert near(0.0, 0.0, 0.0)
    assert not near(1.0, -1.0, 0.5)
    assert near(Days.of(1931, 12, 11), Days.of(1931), 0)
    assert near(Days.of(1931, 12, 11), Days.of(1931, 12, 13), 2)
    assert not near(Days.of(1931, 12, 11), Days.of(1931, 12, 13), 1)
    assert not near(1931.0, Days.of(1931), 1e9)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [(3.1415e6, 3_140_000.0, True), (3.1415e6, 3_150_000.0, False), (737_015.0, 740_000.0, False), (0.0, 0.0, True)],
)
def test_numbers_agree_in_their_first_digits(a: float, b: float, same: bool) -> None:
    assert same_digits(a, b, 3) is same
    assert not same_digits(Days.of(1965), Days.of(1965), 3)
