"""Sentences that a persona may add to a sourced answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.writer.faithfulness import KeyTerms, contradiction, lost

QUESTION = "When was Marie Curie born, and where?"
ANSWER = "Marie Curie was born in Warsaw on 7 November 1867."


def test_key_terms_are_numbers_names_and_negation() -> None:
    terms = KeyTerms.of("The Rhine is not 1,233 km long. Its source lies in the Swiss Alps, NASA says. I don't know.")
    assert terms.numbers == {"1233"}
    assert terms.names == {"rhine", "swiss", "alps", "nasa"}
    assert terms.negated
    assert not KeyTerms.of("I know it well.").names


@pytest.mark.parametrize(
    ("styled", "why"),
    [
        ("Now that is a story worth telling, friend.", ""),
        ("I have read about Marie Curie many times.", ""),
        ("Warsaw is a fine place.", ""),
        ("She came from Paris, I believe.", "paris"),
        ("That was in 1868.", "1868"),
        ("She had three sisters.", "three"),
        ("I do not think so.", "negation"),
        ("That can't be known.", "negation"),
    ],
)
def test_sentences_that_may_introduce_an_answer(styled: str, why: str) -> None:
    message = contradiction(styled, QUESTION, ANSWER)
    assert (why in message) if why else message == ""


def test_a_yes_before_a_negation_is_refused() -> None:
    assert "yes" in contradiction("Yes, gladly.", "Can cats eat onions?", "Cats must not eat onions.")
    assert contradiction("Never, my friend.", "Can cats eat onions?", "Cats must not eat onions.") == ""


def test_key_terms_that_a_replacement_would_lose() -> None:
    assert lost(ANSWER, ANSWER) == []
    assert lost("She was born long ago in Warsaw.", ANSWER) == ["1867", "7", "curie", "marie", "november"]
    assert lost("Cats eat onions.", "Cats must not eat onions.") == ["not"]


@given(st.text(max_size=200), st.text(max_size=200))
def test_an_answer_never_contradicts_itself(question: str, answer: str) -> None:
    assert lost(answer, answer) == []
    message = contradiction(answer, question, answer)
    assert message == "" or message.startswith("a yes")
