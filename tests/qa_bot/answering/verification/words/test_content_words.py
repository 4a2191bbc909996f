"""Content words of questions: their terms, and which of them seldom decide."""

from __future__ import annotations

import pytest

from qa_bot.answering.verification.words.content_words import content_of


def test_content_words_have_a_term_of_the_passages_language():
    words = content_of("Was kosten die Hunde?", "de", "de")
    assert words.terms == ("kost", "hund")
    assert (words.rows, words.texts) == ([1, 3], ("kosten", "Hunde"))


def test_a_digit_that_ends_a_name_has_the_term_of_the_index():
    """The index joins a digit to the word before it, which is not the word's stem: "playstation3"."""
    words = content_of("Where are saved games on the PlayStation 3?", "en", "en")
    assert words.texts[-2:] == ("PlayStation", "3")
    assert words.terms[-1] == "playstation3"


@pytest.mark.parametrize(
    ("question", "language", "weak"),
    [
        ("Where does my daughter get a new permit?", "en", ["daughter"]),
        ("Is there a rule for daughters?", "en", []),
        ("Wo bekommt meine Tochter den neuen Pass?", "de", ["Tochter", "neuen"]),
        ("Wie alt muss die Tochter sein?", "de", []),
        ("Wie lange gilt laut Benutzungsordnung die Karte?", "de", ["Benutzungsordnung"]),
        ("Wer haftet nach der Hausordnung für Schäden?", "de", ["Hausordnung"]),
        ("Who approves leave according to our handbook?", "en", ["handbook"]),
        (f"{'It rained on Sunday. ' * 7}Who has keys?", "en", ["rained", "Sunday"] * 7),  # a story
    ],
)
def test_words_that_seldom_decide(question, language, weak):
    words = content_of(question, language, language)
    assert [text for text, is_weak in zip(words.texts, words.is_weak, strict=True) if is_weak] == weak
