from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.values.dates import Date, Time
from kg_index.values.literals import Days
from kg_index.values.question_values import Measure, Money, Number, Quoted, Value, find_values, graph_value
from kg_index.values.units import CURRENCIES, SYMBOLS, UNITS


def shown(value: Value) -> tuple[object, ...]:
    match value:
        case Number(value=number, ordinal=ordinal):
            return ("ordinal" if ordinal else "number", number)
        case Money(value=number, currency=currency):
            return ("money", number, currency)
        case Measure(value=number, unit=unit):
            return ("measure", number, unit.symbol)
        case Date():
            return ("date", value.iso)
        case Time(hour=hour, minute=minute):
            return ("time", hour, minute)
        case Quoted(value=text):
            return ("quoted", text)


CASES: list[tuple[str, list[tuple[object, ...]]]] = [
    ("which city has 3.1415 million people", [("number", 3_141_500)]),
    ("1,000 or 1000", [("number", 1000), ("number", 1000)]),
    ("two hundred ships", [("number", 200)]),
    ("five and a half thousand men", [("number", 5500)]),
    ("one and a half billion dollars", [("money", 1.5e9, "USD")]),
    ("three quarters of a million people", [("number", 750_000)]),
    ("two and a half miles", [("measure", 2.5, "mi")]),
    ("half a million and a half", [("number", 500_000)]),
    ("the two and a third party", [("number", 2)]),
    ("which one has two", [("number", 2)]),
    ("the 44th president", [("ordinal", 44)]),
    ("5% or 5 percent", [("measure", 5, "%"), ("measure", 5, "%")]),
    ("$3.5bn", [("money", 3.5e9, "USD")]),
    ("US$ 5 million", [("money", 5e6, "USD")]),
    ("20 euros and 20€ and EUR 20", [("money", 20, "EUR")] * 3),
    ("50 cents", [("money", 0.5, "USD")]),
    ("two million Swiss francs", [("money", 2e6, "CHF")]),
    ("£1,200.50", [("money", 1200.5, "GBP")]),
    ("20k", [("number", 20_000)]),
    ("5m", [("measure", 5, "m")]),
    ("$5m", [("money", 5e6, "USD")]),
    ("6 feet 2 inches", [("measure", 6, "ft"), ("measure", 2, "inch")]),
    ("twelve square miles", [("measure", 12, "mi²")]),
    ("-5 °C", [("measure", -5, "°C")]),
    ("3 x 10^8 m/s", [("measure", 3e8, "m/s")]),
    ("a 5-year plan", [("measure", 5, "year")]),
    ("20 pounds", [("measure", 20, "lb")]),
    ("4 July 1776 at 5pm", [("date", "1776-07-04"), ("time", 17, 0)]),
    ("in the 1990s", [("date", "1990")]),
    ("in 1984 he wrote 1984", [("date", "1984"), ("number", 1984)]),
    ("1914-1918", [("number", 1914), ("number", 1918)]),
    ('who wrote "Catch 22"?', [("quoted", "Catch 22")]),
    ("who wrote “1984” and 'Emma'?", [("quoted", "1984"), ("quoted", "Emma")]),
    ("it's the dog's", []),
    ("1e999", []),
    ("1.2.3 v3.5 3,14 g5", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_values(text: str, expected: list[tuple[object, ...]]) -> None:
    values = find_values(text)
    assert [shown(value) for value in values] == expected
    assert all(text[value.start : value.end] == value.text for value in values)


PARTS = st.sampled_from(
    [
        *"0123456789 .,:-/$€%'\"“”st",
        "twenty",
        "hundred",
        " million",
        "and",
        " BC",
        "th",
        " century",
        "July ",
        "km",
        "in ",
    ]
)


@given(st.one_of(st.lists(PARTS, max_size=14).map("".join), st.text(max_size=30)))
def test_values_stand_in_order_and_apart(text: str) -> None:
    end = 0
    for value in find_values(text):
        assert end <= value.start < value.end <= len(text)
        assert text[value.start : value.end] == value.text
        end = value.end


@given(st.integers(1, 10**9), st.sampled_from(sorted(SYMBOLS)))
def test_sums_are_read_back(amount: int, sign: str) -> None:
    assert shown(find_values(f"for {sign}{amount:,} then")[0]) == ("money", amount, SYMBOLS[sign])


@given(st.integers(2, 10**9), st.sampled_from(sorted(UNITS)))
def test_measures_are_read_back(amount: int, unit: str) -> None:
    (values,) = find_values(f"about {amount} {unit} there")
    assert isinstance(values, Measure)
    assert (values.value, values.unit) == (amount, UNITS[unit])


@given(st.integers(2, 10**9), st.sampled_from(sorted(CURRENCIES)))
def test_names_of_currencies_are_read_back(amount: int, name: str) -> None:
    currency, factor = CURRENCIES[name]
    (values,) = find_values(f"about {amount} {name} there")
    assert isinstance(values, Money)
    assert (values.value, values.currency) == (pytest.approx(amount * factor), currency)


def test_units_are_comparable() -> None:
    values = [find_values(text)[0] for text in ("6 feet", "100 °C", "212 °F")]
    in_base = [value.in_base for value in values if isinstance(value, Measure)]
    assert in_base == pytest.approx([1.8288, 373.15, 373.15])


def test_values_as_the_graph_compares_them() -> None:
    values = [graph_value(value) for value in find_values("3.1415 million in 1970 and $5 at 6 feet, noon, 'x', 5 May")]
    assert values == [3_141_500, Days(0, 364), 5, 6, None, None, None]


LONG = [
    "twenty ",
    "1,",
    "9",
    "one hundred and ",
    "5 July ",
    "'",
    '"',
    "a million ",
    "$1.1",
    "1e",
    " ",
    "5 July" + " " * 99,
]


@pytest.mark.parametrize("text", LONG)
def test_long_texts_are_read_to_the_end(text: str) -> None:
    """Time is linear in the length: with chains left unbounded "a million a million …" takes minutes."""
    find_values(text * 1000)
