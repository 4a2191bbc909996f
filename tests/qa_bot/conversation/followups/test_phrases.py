"""Noun phrases of a question, their spans and their number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.conversation.followups.phrases import is_plural, phrases, plural_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What are lung cancer's symptoms?", ["lung cancer", "symptoms"]),
        ("What is the Bronze Age collapse?", ["the Bronze Age collapse"]),
        ("How does a 529 plan work?", ["a 529 plan"]),
        ("Did Ann Lee cook rice?", ["Ann Lee"]),
        ("Does green tea help?", ["green tea"]),
        ("my tomcat naps from dawn to dusk", ["my tomcat", "dawn", "dusk"]),
        ("my grandmother breaks bones easily", ["my grandmother", "bones"]),
        ("what caused Bell's palsy?", ["Bell's palsy"]),
        ("How do blue whales weigh?", ["blue whales"]),
        ("how is prostate cancer diagnosed early?", ["prostate cancer"]),
        ("which treatments can my son get?", ["treatments", "my son"]),
        ("Wer ist der Präsident von Frankreich?", []),
    ],
)
def test_phrases_include_their_modifiers(text: str, expected: list[str]) -> None:
    assert [phrase.text for phrase in phrases(text)] == expected


def test_spans_refer_to_the_text() -> None:
    text = "What is the role of sharks' teeth in the sea?"
    assert [text[phrase.start : phrase.end] for phrase in phrases(text)] == ["the role", "sharks", "teeth", "the sea"]


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [("sharks", True), ("diabetes", False), ("a virus", False), ("glass", False), ("people", True), ("A and B", True)],
)
def test_number_is_guessed_from_the_last_word(phrase: str, plural: bool) -> None:
    assert is_plural(phrase) is plural


@pytest.mark.parametrize(
    ("noun", "many"),
    [("city", "cities"), ("box", "boxes"), ("day", "days"), ("sharks", "sharks"), ("lunch", "lunches")],
)
def test_nouns_have_plurals(noun: str, many: str) -> None:
    assert plural_of(noun) == many


@given(st.text(max_size=80))
def test_spans_of_any_text_are_right(text: str) -> None:
    for phrase in phrases(text):
        assert 0 <= phrase.start < phrase.end <= len(text)
        assert phrase.text.casefold() == text[phrase.start : phrase.end].casefold()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What counts as an excuse?", ["an excuse"]),
        ("Who pays for the meal?", ["the meal"]),
        ("What colours are there?", ["colours"]),
        ("Which shops are open?", ["shops"]),
    ],
)
def test_a_verb_behind_what_or_who_is_no_noun(text: str, expected: list[str]) -> None:
    assert [phrase.text for phrase in phrases(text)] == expected
