"""Years and versions that a passage lacks."""

import pytest

from qa_bot.answering.verification.years import is_of_another_time, lacks_past, lacks_version, lacks_year


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What did a pitch cost in 2023?", "Prices 2025: a pitch is 38 euros.", True),
        ("What does a pitch cost in 2025?", "Prices 2025: a pitch is 38 euros.", False),
        ("What does a pitch cost in 2025?", "A pitch is 38 euros.", False),
        ("What does a pitch cost?", "Prices 2025: a pitch is 38 euros.", False),
        ("Are they allowed in 2026?", "They have been forbidden since 2021.", False),
        ("I bought one in 2015, is it allowed?", "They have been forbidden since 2021.", False),
        ("Was kostet es 2026?", "Gültig ab 1. Januar 2024: 12 Euro. Bis 2023: 10 Euro.", False),
        ("What was paid in 2020?", "2018-2021: 12 euros. 2022: 14 euros.", False),
        ("What was paid in 2020?", "2018/19: 12 euros.", True),
        ("What are fees in 2025?", "Fees 2023: 20 euros, 10 for members born after 1990.", True),
        ("What are fees in 2025?", "Fees 2023: 20 euros. Born on or after 1 May 1990: 10 euros.", True),
        ("Was kostet es 2025?", "Preise 2023: 20 Euro. Wer nach dem 1. Mai 1990 geboren ist, zahlt 10 Euro.", True),
        ("Was kostet es 2025?", "Preise 2023: 20 Euro, ab Jahrgang 1990 10 Euro.", True),
        ("What are fees in 2025?", "Ann, born in Kiel, has set the fees of 2023 and later since 2019.", False),
        ("Do you have 2000 rooms?", "Built in 1988.", False),
        ("Call 0761-2023?", "Built in 1988.", False),
    ],
)
def test_years(question, text, expected):
    assert lacks_year(question, text) is expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What is new in 3.14?", "3.11: faster. 3.12: shorter.", True),
        ("What is new in 3.12?", "3.11: faster. 3.12.1: shorter.", False),
        ("Does it run with 22.0?", "Supported since version 20.3.", False),
        ("Does it run with 22.0?", "It runs with 20.3 and later.", False),
        ("Does it run with 22.0?", "It runs with Windows.", False),
        ("Does it run with 22.0?", "20.3 asks users born in 1990 or later to sign.", True),
        ("Does it run?", "Version 20.3.", False),
    ],
)
def test_versions(question, text, expected):
    assert lacks_version(question, text) is expected


def test_a_year_behind_the_article_is_a_year() -> None:
    assert is_of_another_time("What is the fee for the 2024 contract?", "The fee is 900 pounds in 2025.")


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many complaints did you receive in 2017?", "Last year we received 143 complaints.", True),
        ("Wie hoch war der Beitrag im Jahr 2019?", "Der Beitrag beträgt 12 Euro.", True),
        ("What was wrong with the van in 2024?", "The van failed its inspection.\n2024-03-07\nnotes/7.txt", False),
        ("Were boats allowed in 2022?", "They have been forbidden since 2021.", False),
        ("What was paid in 2020?", "2018-2021: 12 euros.", False),
        ("What does it cost in 2027?", "A pitch is 38 euros.", False),
        ("How many complaints did you receive?", "Last year we received 143 complaints.", False),
    ],
)
def test_the_past(question: str, text: str, expected: bool) -> None:
    assert lacks_past(question, text) is expected
