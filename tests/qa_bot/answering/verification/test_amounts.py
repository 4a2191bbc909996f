"""Amounts of money cover the words that ask for them."""

import pytest

from qa_bot.answering.verification.amounts import asks_for_price, has_amount, lacks_amount, lacks_counted


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


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many seats are there?", "The hall has benches.", True),
        ("Wie viele Plätze gibt es?", "Der Saal hat Bänke.", True),
        ("How many seats are there?", "The hall has 40 seats.", False),
        ("How many seats are there?", "The hall has forty seats.", False),
        ("How many seats are there?", "There are no seats.", False),
        ("Are there seats?", "The hall has benches.", False),
        ("How long is the term?", "The term is in the statutes, section 4 (2).", True),
        ("How long is the term?", "Statutes › 2. Board › 2.1 Term. It is in the statutes.", True),
        ("How long is the term?", "Statutes › 2. Board. Elected for 2 years.", False),
        ("How long is the term?", "Statutes › 2 years of office. It is in the statutes.", False),
        ("How long is the term?", "Two years.", False),
        ("Wie lange dauert das?", "Die Dauer steht in § 4 Abs. 2 Nr. 1.", True),
        ("Wie lange dauert das?", "Höchstens einen Monat.", False),
        ("Ab wann gilt das?", "Ab März.", False),
        ("Wie oft darf ich das?", "Jederzeit.", False),
        ("Was kostet ein Grab?", "Die Kosten trägt die Familie, (2) auch nach 20 Jahren.", True),
        ("Was kostet ein Grab?", "Ein Grab kostet 300 Euro.", False),
        ("What does a copy cost?", "Copies cost nothing.", False),
        ("What does a copy cost?", "Ask at the desk.", True),
        ("What does a copy cost?", "Rules of 29.08.2019. Ask at the desk.", True),
        ("What does a copy cost?", "Copies: 0.20 each.", False),
        ("What does a copy cost?", "There is nothing to sign.", True),
    ],
)
def test_a_passage_without_an_amount_does_not_answer_how_many_or_how_much(question, text, expected):
    assert lacks_amount(question, text) is expected


@pytest.mark.parametrize(
    ("question", "cover", "expected"),
    [
        ("How many access points are in the tower?", {"access": 0.2, "points": 0.2, "tower": 1.0}, True),
        ("How many access points are in the tower?", {"access": 0.2, "points": 0.5, "tower": 1.0}, False),
        ("How many floors does the tower have?", {"floors": 0.1, "tower": 1.0}, False),  # the text has them
        ("Which points hang in the tower?", {"points": 0.1, "tower": 1.0}, False),
    ],
)
def test_a_passage_that_says_nothing_near_what_is_counted(question, cover, expected):
    assert lacks_counted(question, "The tower has 12 floors.", "en", cover) is expected
