"""Titles and bodies above a bound are cut at sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.types import Question
from retrievers.formulate import formulate
from retrievers.long_questions import BODY, TITLE, asides, bounded, shortened, without_asides


def test_a_question_of_usual_length_is_the_same() -> None:
    question = Question("Ear wax", "I would like it out.\n\nHow is that done?")
    assert bounded(question) is question


def test_sentences_that_ask_come_before_others_and_all_stay_in_order() -> None:
    text = "It began in May. Is it rare? I had a fever. Can it be cured?"
    assert shortened(text, 40) == "Is it rare? Can it be cured?"
    assert shortened(text, 46) == "It began in May. Is it rare? Can it be cured?"
    assert shortened(text, 100) == text


STORY = (
    "I am the treasurer of a choir and I only look at the bills. My brother says that each of us costs money, which I"
    " do not believe. For how many people is it free? Thank you."
)


def test_sentences_of_a_story_that_do_not_ask_are_asides() -> None:
    assert [STORY[slice(*span)].split()[0] for span in asides(STORY)] == ["I", "My", "Thank"]
    assert without_asides(STORY).split() == ["For", "how", "many", "people", "is", "it", "free?"]


def test_short_questions_and_statements_have_no_asides() -> None:
    statement = STORY.replace("For how many people is it free?", "It is free for some people.")
    for text in (statement, "My brother is in the hall. Is it free?", ""):
        assert asides(text) == []
        assert without_asides(text) == text


def test_a_text_of_one_sentence_is_cut_between_words() -> None:
    assert shortened("one two three", 9) == "one two"
    assert shortened("a" * 50, 9) == "a" * 9


def test_runs_of_blanks_count_two() -> None:
    assert shortened(f"cats{' ' * 40_000}sleep", 100) == "cats  sleep"
    assert shortened("a\n\n\n\nb", 100) == "a\n\nb"


@given(st.text("ab?. \n", max_size=80), st.integers(1, 60))
def test_the_bound_holds_and_nothing_is_made_up(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= max(limit, 0)
    assert set(short.split()) <= set(text.split()) or len(text.split()[0]) > limit or " " not in text[:limit]


@pytest.mark.parametrize(
    "unit", ["xyz{} ", "why do cats sleep ", "a", "?", "Why is {} so? ", "{} ", "😀", "e\u0301", "猫"]
)
def test_the_queries_of_a_question_of_any_shape_are_bounded(unit: str) -> None:
    text = "".join(unit.format(number) for number in range(40_000 // len(unit)))
    question = bounded(Question(text, text))
    assert (len(question.title), len(question.body)) <= (TITLE, BODY)
    queries = formulate(question).keyword
    assert sum(len(query.query.terms) + len(query.query.phrases) for query in queries) < 5 * (TITLE + BODY)
