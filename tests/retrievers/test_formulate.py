"""What becomes of a rambling question."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.types import Question
from retrievers.formulate import asking_sentences, content_terms, formulate, question_text

RAMBLING = Question(
    "Gum infection",
    "Hello, thank you for your help. My dentist gave me cephalexin last week. I am allergic to penicillin. "
    "Is cephalexin safe for me?",
)


def terms_of(formulation, name):
    return {term for query in formulation.keyword if query.name == name for term, _ in query.query.terms}


def test_courtesies_and_function_words_carry_nothing():
    assert content_terms("Hello, I would like to know what causes hiccups, thank you") == ["caus", "hiccup"]


def test_a_question_of_nothing_else_keeps_its_words():
    assert content_terms("who are you") == ["who", "you"]


def test_the_part_that_asks_is_the_title_and_the_questions():
    assert asking_sentences(RAMBLING) == "Gum infection Is cephalexin safe for me?"
    assert asking_sentences(Question("Ear wax", "I would like it out.")) == "Ear wax I would like it out."


def test_a_body_that_repeats_the_title_is_told_once():
    assert question_text(Question("Molar pregnancy", "molar pregnancy. Is it rare?")) == "molar pregnancy. Is it rare?"
    assert question_text(Question("Uveitis", "")) == "Uveitis"


def test_forms_of_a_rambling_question():
    formulation = formulate(RAMBLING)
    assert terms_of(formulation, "focus:all") == {"gum", "infect", "cephalexin", "safe"}
    assert {"dentist", "penicillin", "allerg"} < terms_of(formulation, "whole:title")
    assert formulation.text == f"{RAMBLING.title} {RAMBLING.body}"
    assert not {"hello", "thank"} & set(formulation.content_terms)


def test_a_short_question_is_asked_once_of_each_field():
    formulation = formulate(Question("Why do cats purr?"))
    assert [query.name for query in formulation.keyword] == ["whole:all", "whole:title"]
    assert formulation.text == "Why do cats purr?"


def test_a_repeated_word_weighs_a_little_more():
    formulation = formulate(Question("pain pain pain in my knee"))
    assert dict(formulation.keyword[0].query.terms) == {"pain": pytest.approx(1 + math.log(3)), "knee": 1.0}


def test_synonyms_of_words_with_one_sense_come_along():
    found = {"motorcar": ("automobile", "auto car")}
    formulation = formulate(Question("buying a motorcar"), synonyms=lambda word: found.get(word, ()))
    assert set(dict(formulation.keyword[0].query.terms)) == {"buy", "motorcar", "automobil"}


def test_noun_phrases_are_a_form_of_their_own_where_they_weigh():
    formulation = formulate(RAMBLING, noun_phrases=lambda text: ["gum infection"])
    assert {query.name for query in formulation.keyword} <= {
        f"{form}:{field}" for form in ("whole", "focus", "title", "body", "noun phrases") for field in ("all", "title")
    } | {"bigrams:title"}


@pytest.mark.parametrize(("body", "count"), [("", 10), ("Hello!", 6)])
def test_what_is_short_is_asked_as_it_is(body, count):
    words = " ".join(f"w{chr(97 + i)}x" for i in range(count))
    for text, wanted in ((words, False), (f"{words} wzx", True)):
        names = {query.name for query in formulate(Question(text, body), noun_phrases=lambda _: ["wax"]).keyword}
        assert ("bigrams:title" in names, "noun phrases:all" in names) == (wanted, wanted)


def test_bigrams_of_a_long_question_are_asked_of_titles():
    queries = {query.name: query.query for query in formulate(RAMBLING).keyword}
    assert queries["bigrams:title"].field == "title"
    assert [pair for pair, _, _ in queries["bigrams:title"].phrases][:3] == [
        ("gum", "infect"),
        ("infect", "dentist"),
        ("dentist", "gave"),
    ]


@pytest.mark.parametrize("question", [Question(""), Question("   ", " "), Question("?!…")])
def test_an_empty_question_asks_nothing(question):
    assert formulate(question).keyword == ()


@given(st.text(max_size=200), st.text(max_size=400))
def test_any_text_can_be_formulated(title, body):
    formulation = formulate(Question(title, body))
    for query in formulation.keyword:
        assert query.weight > 0
        assert query.query.terms or query.query.phrases
        assert len(dict(query.query.terms)) == len(query.query.terms)
