"""Which questions are the same, and where the owner's answer stands among candidates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.answering.stages.owner_answers import COLLECTION, OWNED, is_owned, owned_first, question_key
from qa_bot.answering.stages.tiling import tile
from qa_core.types import Candidate, Clue, Passage, Question, Source


def candidate(document: str, collection: str, score: float) -> Candidate:
    return Candidate(Passage(document, f"Text of {document}.", Clue("t"), Source(document, "t", "", collection)), score)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why?", "why"),
        ("  Is it\tso ?!… ", "IS IT SO"),
        ("STRASSE", "straße."),
        ("なぜ？", "なぜ"),
        ("a\x00b", "A \ufffdB"),
        ("\udc00 x", "x"),
    ],
)
def test_case_blanks_and_end_punctuation_make_no_difference(one: str, other: str) -> None:
    assert question_key(one) == question_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C#"), ("?", "!"), ("", "?"), ("is it so", "it is so"), ("e.g. so", "eg so"), ("1.5", "15")],
)
def test_other_questions_have_other_keys(one: str, other: str) -> None:
    assert question_key(one) != question_key(other)


@given(st.text())
def test_every_text_has_a_key_of_one_shape(text: str) -> None:
    key = question_key(text)
    assert len(key) == 32
    assert set(key) <= set("0123456789abcdef")
    assert question_key(f"  {text.upper().lower()}\n") == question_key(text.upper().lower())


@pytest.mark.parametrize("scores", [(3.3, 3.2, 3.1), (0.5, 0.2, 0.1), (-1.0, -2.0, -3.0), (0.0, 0.0, 0.0)])
def test_the_owners_answer_goes_first_and_alone(scores: tuple[float, ...]) -> None:
    key = question_key("Why so?")
    ranked = [
        candidate(name, collection, score)
        for (name, collection), score in zip([("a", "c"), (key, "c"), (key, COLLECTION)], scores, strict=True)
    ]
    first, *others = owned_first(Question("why SO"), ranked)
    assert (first.passage, others) == (ranked[2].passage, ranked[:2])
    assert first.score == first.features[OWNED] > scores[0]
    assert is_owned(first)
    assert not any(map(is_owned, others))
    assert tile([first, *others], sentences=lambda text: [(0, len(text))]).text == f"Text of {key}."


def test_for_other_questions_it_is_a_document_like_all() -> None:
    ranked = [candidate("a", "c", 2.0), candidate(question_key("Why so?"), COLLECTION, 1.0)]
    assert owned_first(Question("Why not?"), ranked) == ranked
    assert owned_first(Question("Why so?"), []) == []
