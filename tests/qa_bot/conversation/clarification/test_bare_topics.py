"""Topics of short turns, and the facets that titles ask about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.conversation.clarification.bare_topics import (
    LONGEST_TURN,
    Topic,
    defines,
    facet,
    is_narrower,
    label,
    tidy,
    topic_of,
)

ASTHMA = Topic(("asthma",), frozenset({"asthma"}))
BREAST_CANCER = Topic(("breast", "cancer"), frozenset({"breast", "cancer"}))


@pytest.mark.parametrize(
    ("turn", "words", "defined"),
    [
        ("asthma", "asthma", False),
        ("Headache treatment?", "headache treatment", False),
        ("tell me about the lawn", "lawn", False),
        ("Can you tell me more about dogs", "dogs", False),
        ("I need some information on kidney stones", "kidney stones", False),
        ("what about birds?", "birds", False),
        ("What is Mercury?", "mercury", True),
        ("who is lincoln", "lincoln", True),
        ("capital of Georgia", "capital of georgia", False),
    ],
)
def test_a_turn_that_only_names_something_has_a_topic(turn: str, words: str, *, defined: bool):
    topic = topic_of(turn)
    assert topic is not None
    assert (" ".join(topic.words), topic.defined) == (words, defined)


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "?!",
        "the of",
        "why do cats purr",
        "How is asthma treated?",
        "my cat sleeps all day and never eats",  # four terms
        "can cats swim",
        "what are the causes of asthma",
        "who is at risk?",
        "asthma " * LONGEST_TURN,
    ],
)
def test_longer_questions_have_no_topic(turn: str):
    assert topic_of(turn) is None


@pytest.mark.parametrize(
    ("title", "tidied"),
    [
        ("What is (are) Asthma ?", "What is Asthma?"),
        ("Who is at risk for Asthma? ?", "Who is at risk for Asthma?"),
        (" Two\n lines\tand  blanks ", "Two lines and blanks"),
        ("What does .NET mean ?", "What does .NET mean?"),
        ("Mercury (planet)", "Mercury (planet)"),
        ("(are) Asthma ?", "Asthma?"),
        ("?", "?"),
    ],
)
def test_titles_are_tidied(title: str, tidied: str):
    assert tidy(title) == tidied


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("What are the symptoms of Asthma?", "symptoms"),
        ("What is the outlook for asthma?", "outlook"),
        ("What causes Asthma?", "causes"),
        ("How to prevent Asthma?", "How to prevent"),
        ("Treatment of asthma", "Treatment"),
        ("What is Causes of Asthma?", "Causes"),
        ("What is Asthma?", ""),
        ("Is Asthma inherited?", ""),
        ("What is allergic asthma?", ""),
        ("Who is at risk for Asthma?", ""),
        ("What are the best and most recent treatments of asthma?", ""),  # more than three words
        ("Living with asthma with asthma", ""),
        ("Asthma", ""),
        ("", ""),
    ],
)
def test_facet_of_a_title(title: str, expected: str):
    assert facet(title, ASTHMA) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("What are the symptoms of Asthma?", "symptoms"),
        ("What is Asthma?", "What is Asthma?"),
        ("What is allergic asthma?", "allergic asthma"),
        ("Do you have information about Asthma in Children", "Asthma in Children"),
        ("Is Asthma inherited?", "Is Asthma inherited?"),
        ("Who is at risk for Asthma?", "Who is at risk for Asthma?"),
    ],
)
def test_label_of_a_title(title: str, expected: str):
    assert label(title, ASTHMA) == expected


def test_narrower_titles():
    assert is_narrower("What is allergic asthma?", ASTHMA)
    assert is_narrower("Asthma in children", ASTHMA)
    assert not is_narrower("What are the symptoms of asthma?", ASTHMA)
    assert not is_narrower("How is asthma treated?", ASTHMA)
    assert not is_narrower("Who is at risk for asthma?", ASTHMA)
    assert is_narrower("Who is Asthma Jones?", ASTHMA)


def test_titles_that_define_a_topic():
    assert defines("What is (are) Breast Cancer ?", BREAST_CANCER)
    assert not defines("Breast cancer", BREAST_CANCER)  # the turn itself
    assert not defines("How do I detect breast cancer?", BREAST_CANCER)
    treatment = Topic(("headache", "treatment"), frozenset({"headach", "treatment"}))
    assert not defines("What are the treatments for Headache?", treatment)  # other words for the topic
    symptoms = Topic(("symptoms", "of", "asthma"), frozenset({"symptom", "asthma"}))
    assert not defines("What are the symptoms of asthma?", symptoms)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_turn_and_title(turn: str, title: str):
    topic = topic_of(turn)
    tidied = tidy(title)
    assert tidied == " ".join(tidied.split())
    if topic is not None:
        assert 1 <= len(topic.terms) <= 3
        assert topic.words
        text = label(tidied, topic)
        assert bool(text) == bool(tidied)
        assert text in tidied
