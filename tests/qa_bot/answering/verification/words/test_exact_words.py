import pytest

from qa_bot.answering.verification.contacts import NO_CONTACT, AskedContact
from qa_bot.answering.verification.words.exact_words import Exact, PassageWords
from qa_core.text.analysis import terms

NOTHING = Exact(frozenset(), NO_CONTACT)


def has(text: str, word: str, *, analysis: str = "en", exact: Exact = NOTHING) -> bool:
    return PassageWords.of(text, analysis, exact).has(word, next(iter(terms(word, analysis)), ""))


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Cats sleep.", "sleeping", True),
        ("Cats sleep.", "dogs", False),
        ("Released as 2.13.4.", "2.13", True),
        ("Released as 2.14.", "2.13", False),
        ("On 2026-02-17 we met.", "February", True),
        ("On 2026-02-17 we met.", "March", False),
        ("A day ticket: 30 €.", "cost", True),
        ("A day ticket is free.", "cost", False),
        ("The leave is unpaid.", "paid", True),
        ("Unlock the door.", "lock", False),
    ],
)
def test_a_passage_has_a_word_or_answers_it(text, word, expected):
    assert has(text, word) is expected


@pytest.mark.parametrize(
    ("text", "word", "lacks"),
    [
        ("The resolution is 600 or 1,200 dpi.", "1800", True),
        ("The resolution is 600 or 1,200 dpi.", "1200", False),
        ("The resolution is 600 dpi.", "1800", False),  # one other number may be of something else
        ("In 2023 and 2024 it was repaired.", "1800", False),  # years
        ("It blinks two or four times.", "five", True),
        ("It blinks two or four times.", "Four", False),
        ("It blinks two to six times.", "five", False),
        ("Es blinkt zwei- oder viermal, dann 3.", "fünf", True),
        ("The door is open.", "five", False),
    ],
)
def test_a_passage_with_other_numbers_does_not_cover_this_one(text, word, lacks):
    assert PassageWords.of(text, "en", NOTHING).lacks(word, word.lower()) is lacks


def test_a_german_word_may_be_denied():
    assert has("Der Urlaub ist unbezahlt.", "bezahlt", analysis="de")
    assert not has("Der Urlaub ist bezahlt.", "befristet", analysis="de")


def test_a_german_verb_may_have_its_prefix_apart():
    assert has("Sie geben das Buch ab.", "abgeben", analysis="de")
    assert not has("Sie geben das Buch.", "abgeben", analysis="de")


def test_a_german_verb_may_have_a_syllable_inside():
    passage = PassageWords.of("Bücher sind an der Theke zurückzugeben, Karten werden abgegeben.", "de", NOTHING)
    assert passage.has("zurückgeben", terms("zurückgeben", "de")[0])
    assert passage.has("abzugeben", terms("abzugeben", "de")[0])
    assert not passage.has("aufgeben", terms("aufgeben", "de")[0])


def test_a_german_word_may_be_part_of_a_compound_or_consist_of_two():
    assert has("Der Urlaubsantrag ist einzureichen.", "Urlaub", analysis="de")
    assert has("Die Woche der Bereitschaft beginnt montags.", "Bereitschaftswoche", analysis="de")
    assert not has("Die Woche beginnt montags.", "Bereitschaftswoche", analysis="de")
    assert not has("The holidaymaker left.", "holiday"), "English compounds are looked up by their vectors"


def test_codes_and_asked_contacts_are_there_or_lacking():
    exact = Exact(frozenset({"E19"}), AskedContact.of("What is the phone number for E19?"))
    without = PassageWords.of("E02 means: call the service.", "en", exact)
    assert without.lacks("E19", "e19")
    assert without.lacks("phone", "phone")
    there = PassageWords.of("E19: call extension 3110.", "en", exact)
    assert not there.lacks("E19", "e19")
    assert there.has("phone", "phone")


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("The rent of Unit 7 is 900 pounds.", "8", True),
        ("The rent of Unit 8 is 900 pounds.", "8", False),
        ("Units 7 to 9 cost 900 pounds.", "8", False),
        ("The eighth unit costs 900 pounds.", "8", False),
        ("Version 1.8 and 28 others.", "8", True),
        ("Open on Saturday.", "Sunday", True),
        ("Open from Friday to Monday.", "Sunday", False),
        ("Mo–Fr 8 bis 12 Uhr, Samstag geschlossen", "Mittwoch", False),
        ("Sonn- und Feiertage ganztägig, Samstag ab 18 Uhr", "sonntags", False),
        ("Open daily; on Saturday until noon.", "Sunday", False),
        ("Open until noon.", "Sunday", False),  # another word may cover it
    ],
)
def test_no_likeness_covers_another_digit_or_day_of_the_week(text, word, expected):
    assert PassageWords.of(text, "en", NOTHING).lacks(word, word) is expected
