import pytest

from qa_bot.answering.verification.neighbours import is_about_neighbours

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
