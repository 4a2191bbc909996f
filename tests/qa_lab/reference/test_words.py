import pytest

from qa_lab.reference.words import character_grams, focus, is_english, stems, words


def test_stems_without_stop_words():
    assert stems("What are the policies on travelling?") == ["polici", "travel"]


def test_grams_within_words():
    assert character_grams("the leave") == ["_lea", "leav", "eave", "ave_"]
    assert character_grams("12") == ["_12_"]
    assert character_grams("x") == ["_x_"]


def test_words_without_endings():
    assert words("Don't go to Zürich’s office") == ["don", "t", "go", "to", "zürich", "s", "office"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many days of leave do I get?", True),
        ("Wie viele Tage habe ich?", False),
        ("Qui est le directeur?", False),
        ("referral bonus", True),
        ("Überstunden?", False),
        ("", True),
    ],
)
def test_the_language_of_a_question(text, expected):
    assert is_english(text) is expected


def test_the_asking_part_of_a_long_message():
    talk = "I joined last week and everyone is so nice to me here. " * 3
    message = f"{talk}My laptop is slow. Who can help me? Thanks a lot to all of you."
    assert focus(message) == "My laptop is slow. Who can help me?"
    assert focus(talk) == talk
    assert focus("Who can help?") == "Who can help?"
