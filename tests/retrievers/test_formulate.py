import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.types import Question
from retrievers.formulate import asking_sentences, formulate, question_text
from retrievers.question_terms import content_terms

RAMBLING = Question(
    "Gum infection",
    "Hello, thank you for your help. My dentist gave me cephalexin last week. I am allergic to penicillin. "
    "Is cephalexin safe for me?",
)


def terms_of(formulation, name):
    return {term for query in formulation.keyword if query.name == name for term, _ in query.query.terms}


def test_courtesies_and_function_words_are_dropped():
    assert content_terms("Hello, I would like to know what causes hiccups, thank you") == ["caus", "hiccup"]


def test_a_question_of_stop_words_keeps_them():
    assert content_terms("who are you") == ["who", "you"]


def test_asking_sentences_are_the_title_and_the_questions():
    assert asking_sentences(RAMBLING) == "Gum infection Is cephalexin safe for me?"
    assert asking_sentences(Question("Ear wax", "I would like it out.")) == "Ear wax I would like it out."


def test_a_title_that_the_body_repeats_is_dropped():
    assert question_text(Question("Molar pregnancy", "molar pregnancy. Is it rare?")) == "molar pregnancy. Is it rare?"
    assert question_text(Question("Uveitis", "")) == "Uveitis"


def test_forms_of_a_rambling_question():
    formulation = formulate(RAMBLING)
    assert terms_of(formulation, "focus:all") == {"gum", "infect", "cephalexin", "safe"}
    assert {"dentist", "penicillin", "allerg"} < terms_of(formulation, "whole:title")
    assert formulation.text == f"{RAMBLING.title} {RAMBLING.body}"
    assert not {"hello", "thank"} & set(formulation.content_terms)


def test_a_short_question_gives_one_query_per_field():
    formulation = formulate(Question("Why do cats purr?"))
    assert [query.name for query in formulation.keyword] == ["whole:all", "whole:title"]
    assert formulation.text == "Why do cats purr?"


def test_a_repeated_word_weighs_a_little_more():
    formulation = formulate(Question("pain pain pain in my knee"))
    assert dict(formulation.keyword[0].query.terms) == {"pain": pytest.approx(1 + math.log(3)), "knee": 1.0}


def test_synonyms_are_added_to_a_query():
    synonyms = {"motorcar": ("automobile", "auto car")}
    formulation = formulate(Question("buying a motorcar"), synonyms=lambda word: synonyms.get(word, ()))
    assert set(dict(formulation.keyword[0].query.terms)) == {"buy", "motorcar", "automobil"}


def test_forms_of_a_question_with_noun_phrases():
    formulation = formulate(RAMBLING, noun_phrases=lambda text: ["gum infection"])
    assert {query.name for query in formulation.keyword} <= {
        f"{form}:{field}" for form in ("whole", "focus", "title", "body", "noun phrases") for field in ("all", "title")
    } | {"bigrams:title"}


@pytest.mark.parametrize(("body", "count"), [("", 10), ("Hello!", 6)])
def test_only_long_questions_have_bigrams_and_noun_phrases(body, count):
    words = " ".join(f"w{chr(97 + i)}x" for i in range(count))
    for text, expected in ((words, False), (f"{words} wzx", True)):
        names = {query.name for query in formulate(Question(text, body), noun_phrases=lambda _: ["wax"]).keyword}
        assert ("bigrams:title" in names, "noun phrases:all" in names) == (expected, expected)


def test_bigrams_of_a_long_question_search_titles():
    queries = {query.name: query.query for query in formulate(RAMBLING).keyword}
    assert queries["bigrams:title"].field == "title"
    assert [pair for pair, _, _ in queries["bigrams:title"].phrases][:3] == [
        ("gum", "infect"),
        ("infect", "dentist"),
        ("dentist", "cephalexin"),
    ]


@pytest.mark.parametrize("question", [Question(""), Question("   ", " "), Question("?!…")])
def test_an_empty_question_gives_no_queries(question):
    assert formulate(question).keyword == ()


@given(st.text(max_size=200), st.text(max_size=400))
def test_any_text_can_be_formulated(title, body):
    formulation = formulate(Question(title, body))
    for query in formulation.keyword:
        assert query.weight > 0
        assert query.query.terms or query.query.phrases
        assert len(dict(query.query.terms)) == len(query.query.terms)
