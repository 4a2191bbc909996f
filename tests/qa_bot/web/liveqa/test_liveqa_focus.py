"""Foci and summaries: examples by hand, and what holds for every text."""

from __future__ import annotations

from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.web.liveqa.liveqa_focus import FOCI, SUMMARY, analyse, foci, shortened, summary, weigh
from qa_core.types import Question

TEXTS = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["5 mg-foo", "type 2", "diabetes", "Why", "?", ".", "\n\n", "the dog's", "😀", "مرض", "犬は", "\x00", "a_b"]
    )
).map(" ".join)


def question_of(title: str, body: str = "") -> Question:
    return Question(title, body)


def phrases(text: str, *, most: int = FOCI, rare: str = "") -> list[str]:
    weights = weigh(Question(text), rarity=lambda term: 9.0 if term == rare else 1.0)
    return [text[start:end] for start, end in foci(text, weights, most=most)]


# --------------------------------------------------------------------------------------------------------------- foci


def test_foci_are_noun_phrases_with_their_spans() -> None:
    text = "Is my dog's ear infection  painful?"
    matches = foci(text, weigh(Question(text)))
    assert [text[slice(*span)] for span in matches] == ["dog's ear infection  painful"]
    assert matches == ((6, 34),)


def test_a_phrase_is_found_as_a_whole_word_and_once() -> None:
    text = "The catalogue of cats: which cats need a cat flap?"
    matches = foci(text, weigh(Question(text)))
    assert [text[slice(*span)] for span in matches] == ["catalogue", "cats", "cat flap"]
    assert matches[1] == (17, 21)


def test_a_phrase_continues_over_a_line_end() -> None:
    assert phrases("What causes high\n blood pressure?") == ["high\n blood pressure"]


def test_amounts_and_polite_phrases_are_no_foci() -> None:
    assert phrases("Hello, can anybody help me? I take 5 mg prednisone. Thanks!") == ["prednisone"]
    assert phrases("Can you please help me with this?") == []


def test_those_that_say_most_are_kept_in_the_order_of_the_text() -> None:
    text = "A lion, a tiger, a zebra, a camel, a panda and an otter."
    assert phrases(text) == ["lion", "tiger", "zebra", "camel", "panda"]
    assert phrases(text, most=2, rare="panda") == ["lion", "panda"]


def test_other_languages_have_words_as_foci() -> None:
    assert phrases("Warum schläft die Katze?", most=3, rare="katz") == ["Warum", "schläft", "Katze"]
    assert phrases("लाल किताब") == ["लाल", "किताब"]


def test_code_points_are_counted() -> None:
    text = "😀 diabetes?"
    assert foci(text, weigh(Question(text))) == ((2, 10),)


def test_a_term_weighs_by_rarity_and_how_often_it_stands() -> None:
    weights = weigh(Question("Cats?", "My cats and my dog."), rarity=lambda term: {"cat": 2.0, "dog": 3.0}[term])
    assert weights == pytest.approx({"cat": 2 * (1 + log(2)), "dog": 3.0})


# ------------------------------------------------------------------------------------------------------------ summary


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("How do you remove caulk?", "I tried it. Is there a trick?", "How do you remove caulk?"),
        ("Not covered", "I woke up. What exactly is sleep paralysis? Thanks.", "What exactly is sleep paralysis?"),
        ("Soreness after cavity filling?", "I had shots. Is this normal?!", "Soreness after cavity filling?"),
        ("hi", "I take ambien. I want to know how long before bed to take ambien.",
         "I want to know how long before bed to take ambien."),
        ("Ear  wax\n", "", "Ear wax"),
        ("", "My ear hurts. Does peroxide remove ear wax?", "Does peroxide remove ear wax?"),
        ("", "", ""),
        ("為什麼貓睡覺？", "我有一隻貓。", "為什麼貓睡覺？"),
    ],
)  # fmt: skip
def test_the_summary_is_the_sentence_that_asks_most(title: str, body: str, expected: str) -> None:
    question = question_of(title, body)
    assert summary(question, weigh(question)) == expected


def test_of_two_questions_the_one_about_rare_things_is_taken() -> None:
    question = question_of("help", "What is a good phone? What is a good stethoscope?")
    weights = weigh(question, rarity=lambda term: 5.0 if term == "stethoscop" else 1.0)
    assert summary(question, weights) == "What is a good stethoscope?"


def test_a_short_question_is_taken_before_one_that_would_be_cut() -> None:
    question = question_of("help", f"Can I eat {'very ' * 60}old bread? Can I eat old bread?")
    assert summary(question, weigh(question)) == "Can I eat old bread?"


def test_long_text_is_cut_at_a_word() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 9) == "one two…"
    assert shortened("one two, three", 9) == "one two…"
    assert shortened("abcdefghij", 5) == "abcd…"
    assert shortened("a bcdefghij", 6) == "a bcd…", "a word that is longer than half of all is cut"
    assert shortened("anything", 1) == "…"


# --------------------------------------------------------------------------------------------------------- every text


@given(TEXTS, TEXTS)
def test_every_text_has_an_analysis_in_its_bounds(title: str, body: str) -> None:
    result = analyse(question_of(title, body))
    for text, spans in ((title, result.title_foci), (body, result.body_foci)):
        assert len(spans) <= FOCI
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert len(result.summary) <= SUMMARY
    assert len(result.summary.splitlines()) <= 1
    assert bool(result.summary) == bool(title.strip() or body.strip())


@given(st.text(), st.integers(1, 50))
def test_nothing_is_longer_than_its_limit(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
