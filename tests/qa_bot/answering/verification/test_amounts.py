"""Amounts of money cover the words that ask for them."""

import pytest

from qa_bot.answering.verification.amounts import (
    asks_for_price,
    has_amount,
    lacks_amount,
    lacks_count,
    lacks_counted,
)


@pytest.mark.parametrize(
    "text",
    [
        "1.200,50 €",
        "30 EUR a month",
        "EUR 30",
        "$5",
        "80 cents",
        "2,50 Euro",
        "£1,000",
        "1,600 NOK",
        "ninety silver marks",
        "zehn Euro",
    ],
)
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
        ("Wie hoch ist der Beitrag?", "Der Beitrag ist bis zum 1. April 2025 zu leisten.", True),
        ("How high is the fee?", "The fee is due on March 3 at 14:30.", True),
        ("How high is the fee?", "The fee is due on March 3. It is 20.", False),
        ("Wie oft darf ich das?", "Jederzeit.", False),
        ("Wie hoch ist die Pauschale?", "Die Pauschale [1] steht in der Anlage.", True),
        ("Wie hoch ist die Gebühr?", "Die Gebühr richtet sich nach den Nummern 1 und 3 sowie Nrn. 5, 6.", True),
        ("Wie viele Mitglieder hat der Beirat?", "Mitglieder können jederzeit ausscheiden.", True),
        ("How high is the fee?", "The fee is always due.", True),
        ("Wie lange gilt der Ausweis?", "Der Ausweis kostet 30 Euro.", True),
        ("Wie lange gilt der Ausweis?", "Der Ausweis gilt zehn Jahre.", False),
        ("Wie lange gilt der Ausweis?", "Der Ausweis gilt unbefristet.", False),
        ("Wie lange gilt das?", "Gültig zum 31.12.2025.", False),
        ("Wie lange habt ihr offen?", "Geöffnet 8–18.", False),
        ("Wie lange ist das Büro auf?", "Das Büro in der 30. Etage.", True),
        ("How long is the pass valid?", "The pass costs 30 pounds.", True),
        ("How long is the pass valid?", "The pass is valid for a year.", False),
        ("How long must a password be?", "At least twelve characters.", False),
        ("Wann ist die Gebühr fällig?", "Die Gebühr wird durch Bescheid festgesetzt.", True),
        ("Wann ist die Gebühr fällig?", "Die Gebühr ist mit der Zahlung fällig, sobald der Bescheid da ist.", False),
        ("Wann ist die Gebühr fällig?", "Fällig ist sie freitags.", False),
        ("Wann ist die Gebühr fällig?", "Jeweils Mai.", False),
        ("When is the fee due?", "The treasurer collects fees.", True),
        ("When is the fee due?", "Fees are due after the meeting.", False),
        ("And when?", "The treasurer collects fees.", True),
        ("When I pay, nothing happens", "The treasurer collects fees.", False),
        ("Was kostet ein Grab?", "Die Kosten trägt die Familie, (2) auch nach 20 Jahren.", True),
        ("Was kostet ein Grab?", "Ein Grab kostet 300 Euro.", False),
        ("What does a copy cost?", "Copies cost nothing.", False),
        ("What does a copy cost?", "Ask at the desk.", True),
        ("What does a copy cost?", "Rules of 29.08.2019. Ask at the desk.", True),
        ("What does a copy cost?", "Copies: 0.20 each.", False),
        ("What does a copy cost?", "There is nothing to sign.", True),
        ("How much does the canoe cost?", "The boat costs 7 200. The canoe costs 850.", False),
        ("How much does the canoe cost?", "Asset | Cost\nCanoe | 850", False),
        ("How much does the canoe cost?", "Asset | Berth\nCanoe | 850", True),
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


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many comments can a task have?", "Comments are kept. A task lives for 30 days.", True),
        ("How many comments can a task have?", "A task has up to 30 comments.", False),
        ("How many comments can a task have?", "Notes: 30.", False),  # what is counted is not named
        ("How many people work here?", "Founded on 12 January 2025 by those who work here.", True),
        ("How many people work here?", "Of us 12 work here.", False),
        ("How many rooms are there?", "| rooms | price |\n| --- | --- |\n| 12 | low |", False),
        ("How many rooms are there?", "| rooms | price |\n| --- | --- |\n| large | low |", True),
        ("Wie viele Bücher stehen dort?", "Bücher sind einzubinden. Der Eigenanteil beträgt 32 Euro.", True),
        ("Wie viele Bücher stehen dort?", "Es gibt zwei Bücher.", False),
        ("How many guests may come?", "Of the guests 20 may come.", False),
        ("How many courses do you offer?", "Helpers may apply for the course. There are six places a year.", False),
        ("How many courses do you offer?", "Helpers may apply for the course. It has a year or six months.", True),
        ("Wie viele Kurse gibt es?", "Helfer dürfen den Kurs besuchen. Es gibt im Jahr sechs davon.", False),
        ("What comments can a task have?", "Comments are kept.", False),
    ],
)
def test_a_passage_that_names_what_is_counted_without_a_number(question, text, lacks):
    language = "de" if question.startswith("Wie") else "en"
    assert lacks_count(question, text, language) is lacks


def test_a_heading_that_asks_the_same_is_answered_by_any_number():
    question, text = "How many phones can be paired?", "Up to four. The first phone is that of the owner."
    assert lacks_count(question, text, "en")
    assert lacks_count(question, text, "en", headings=["Getting started", "Pairing a phone"])
    assert not lacks_count(question, text, "en", headings=["Getting started", "How many phones can I pair?"])
    assert lacks_count(question, "The first phone is its owner's.", "en", headings=["How many phones can I pair?"])


def test_what_a_german_question_counts_is_its_noun():
    assert lacks_counted("Wie viele Delegierte schickt der Verein?", "Der Verein.", "de", {"Delegierte": 0.04})
    assert not lacks_counted("Wie viele Delegierte schickt der Verein?", "Der Verein.", "de", {"Delegierte": 0.5})


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How much does a new key cost?", "You may buy another key for $5.", False),
        ("How much does a new key cost?", "Return the key within 30 days.", True),
        ("How much can I get for a flight?", "Flights are paid up to $350.", False),
        ("Wie hoch ist die Hundesteuer?", "Sind es mehr als 5 Hunde, so gilt Satz 1.", True),
        ("Wie hoch sind die Beiträge?", "Sie betragen 36 Euro.", False),
        ("How high is the fine?", "It is 20.", False),
        ("How much is the deposit for the boat?", "We block 300 for the boat.", False),
        ("How much is left of the paint?", "There are 5 tins.", False),
        ("Wie hoch ist die Gebühr?", "Näheres regelt $ 5 Abs. 2 der Ordnung.", True),
    ],
)
def test_a_dollar_sign_counts_money_and_no_sections(question: str, text: str, lacks: bool) -> None:
    assert lacks_amount(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("When does the gym open?", "The gym opens at six.", False),
        ("Wann öffnet die Halle?", "Die Halle öffnet um halb acht.", False),
        ("When does the gym open?", "The gym has a door.", True),
    ],
)
def test_hours_in_words_say_when(question: str, text: str, expected: bool) -> None:
    assert lacks_amount(question, text) is expected
