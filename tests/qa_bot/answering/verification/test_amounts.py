"""Amounts of money cover the words that ask for them."""

import pytest

from qa_bot.answering.verification.amounts import asks_for_price, has_amount


@pytest.mark.parametrize("text", ["1.200,50 €", "30 EUR a month", "EUR 30", "$5", "80 cents", "2,50 Euro", "£1,000"])
def test_amounts(text):
    assert has_amount(text)


@pytest.mark.parametrize("text", ["30 days", "Europe 2024", "€ and $", "5 centimetres", "room 12", ""])
def test_other_numbers(text):
    assert not has_amount(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("part | price_eur\nPegs | 12.90", True),
        ("Garment | Fee (€) | when\nCoat | 3 | May", True),
        ("part | neural\nPegs | 12", False),
        ("part | price_eur\nPegs | none", False),
        ("The Euro came.\n12 states had it", False),
    ],
)
def test_a_column_of_amounts(text, expected):
    assert has_amount(text) is expected


def test_words_that_ask():
    assert all(map(asks_for_price, ["cost", "Kostet", "teuer", "prix"]))
    assert not asks_for_price("deadline")
