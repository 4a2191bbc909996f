import pytest

from qa_bot.answering.verification.neighbours import asks_about_another, is_about_neighbours, lacks_word
from qa_core.types import Clue, Passage, Source

FLOORS = "Wardens: second floor Ann, third floor Ben."
STOVES = "The Ember 7 burns 2 kg, the Ember 9 burns 3 kg."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the warden on the first floor?", FLOORS),
        ("who is the warden on the 4th floor", FLOORS),
        ("How much does the Ember 10 burn?", STOVES),
        ("What is the output of the AW 12?", "| AW 6 | AW 9 | AW 14 |\n| 5.8 | 8.9 | 13.6 |\n\nUp to 4 may be joined."),
        ("Wer wohnt im dritten Stock?", "Im ersten Stock wohnt Ann, im 2. Stock Ben."),
        ("Qui habite au premier étage ?", "Ann habite au deuxième étage, Ben au troisième étage."),
    ],
)
def test_others_of_a_series_do_not_answer_for_one(question: str, text: str) -> None:
    assert is_about_neighbours(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the warden on the third floor?", FLOORS),
        ("Who are the wardens?", FLOORS),
        ("What is the first step?", FLOORS),
        ("Is the second day of illness paid?", "A note is due on the third day of illness."),  # one other
        ("How much does the Ember 9 burn?", STOVES),
        ("How much does the ember 10 burn?", STOVES),  # no name
        ("Does it run on Windows 11?", "It runs on Windows 8, and on Windows 10 or newer."),
        ("Does it run on Windows 9?", "It runs on Windows 7 and Windows 8, as well as Windows 8 to 10."),
        ("Does it fit the AW 12?", "It fits the AW 6, and the AW 9 and later."),
        ("What does Band 6 earn?", "Band 4 and Band 5 earn less.\n| 6 | 30,000 |"),
    ],
)
def test_other_passages_may_answer(question: str, text: str) -> None:
    assert not is_about_neighbours(question, text)


def test_sections_are_no_series() -> None:
    text = "4 Fees. See Section 5 and Section 6."
    assert is_about_neighbours("What does Section 7 say?", text)
    assert not is_about_neighbours("What does Section 7 say?", text, sections={"7"})


def _pair(title: str, text: str) -> Passage:
    return Passage("a", text, Clue(title), Source("a", title))


SPIDERS = _pair("How many legs does a spider have?", "Eight legs, in four pairs.")


@pytest.mark.parametrize(
    ("question", "passage", "cover", "expected"),
    [
        ("How many legs does a centipede have?", SPIDERS, {"legs": 1.0, "centipede": 0.3}, True),
        ("How many legs does a tarantula have?", SPIDERS, {"legs": 1.0, "tarantula": 0.7}, False),  # a word near it
        ("How many legs does a spider have?", SPIDERS, {"legs": 1.0, "spider": 1.0}, False),
        ("How many pairs of legs does a spider have?", SPIDERS, {"pairs": 1.0, "legs": 1.0, "spider": 1.0}, False),
        ("How many eyes do centipedes have?", SPIDERS, {"eyes": 0.3, "centipedes": 0.3}, False),  # nothing is the same
        ("What is a centipede?", _pair("What is a spider?", "An animal."), {"centipede": 0.2}, False),
        (
            "Who can advertise on bikes, and buy them?",
            _pair("May I film or advertise on bikes?", "No."),
            {"advertise": 1.0, "bikes": 1.0, "buy": 0.2},
            False,
        ),
        ("legs of a centipede", _pair("Legs of a spider", "Eight."), {"legs": 1.0, "centipede": 0.2}, False),
    ],
)
def test_a_title_that_asks_the_same_about_another_thing(question, passage, cover, expected):
    assert asks_about_another(question, passage, cover) is expected


@pytest.mark.parametrize(
    ("question", "cover", "expected"),
    [
        ("How do I boil a goose egg?", {"boil": 1.0, "goose": 0.2, "egg": 1.0}, True),
        ("How do I boil a hen egg?", {"boil": 1.0, "hen": 0.4, "egg": 1.0}, False),
        ("How do I boil an egg?", {"boil": 1.0, "egg": 1.0}, False),
        ("How do I pluck a goose?", {"pluck": 0.2, "goose": 0.2}, False),  # the title is about nothing of it
    ],
)
def test_a_passage_of_the_same_question_lacks_a_word(question, cover, expected):
    passage = _pair("How do I boil an egg?", "Lower it into the water with a spoon.")
    assert lacks_word(question, passage, cover) is expected
