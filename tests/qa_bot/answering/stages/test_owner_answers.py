"""Rank of the owner's answer among candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa_bot.answering.stages.owner_answers import ALIKE, COLLECTION, has_alike, is_owned, may_answer, owned_first
from qa_bot.answering.tiling.opinions import tile
from qa_bot.home.question_key import question_key
from qa_core.types import Candidate, Clue, Passage, Question, Signals, Source


def candidate(document: str, collection: str, score: float) -> Candidate:
    return Candidate(Passage(document, f"Text of {document}.", Clue("t"), Source(document, "t", "", collection)), score)


@pytest.mark.parametrize("scores", [(3.3, 3.2, 3.1), (0.5, 0.2, 0.1), (-1.0, -2.0, -3.0), (0.0, 0.0, 0.0)])
def test_the_owners_answer_is_first_and_not_tiled(scores: tuple[float, ...]) -> None:
    key = question_key("Why so?")
    ranked = [
        candidate(name, collection, score)
        for (name, collection), score in zip([("a", "c"), (key, "c"), (key, COLLECTION)], scores, strict=True)
    ]
    first, *others = owned_first(Question("why SO"), ranked)
    assert (first.passage, others) == (ranked[2].passage, ranked[:2])
    assert first.score > scores[0]
    assert is_owned(first)
    assert not any(map(is_owned, others))
    assert tile([first, *others], sentences=lambda text: [(0, len(text))]).text == f"Text of {key}."


def test_for_other_questions_it_is_an_ordinary_document() -> None:
    ranked = [candidate("a", "c", 2.0), candidate(question_key("Why so?"), COLLECTION, 1.0)]
    assert owned_first(Question("Why not?"), ranked) == ranked
    assert owned_first(Question("Why so?"), []) == []


@pytest.mark.parametrize(
    ("verdict", "similarity", "confidence", "expected"),
    [
        ("passage", 0.5, 0.7, True),
        ("passage", 0.49, 0.99, False),
        ("passage", 0.9, 0.69, False),
        ("passage", None, 0.99, False),
        ("fact", None, 0.7, True),
        ("fact", 0.9, 0.69, False),
        ("abstain", 0.9, 0.99, False),
    ],
)
def test_the_starter_answers_if_it_is_sure_and_has_a_similar_question(verdict, similarity, confidence, expected):
    features = {} if similarity is None else {"title_similarity": similarity, "title_shared": 1.0}
    assert may_answer(verdict, features, confidence) is expected


@pytest.mark.parametrize(
    ("shared", "similarity", "coverage", "expected"),
    [
        (0.5, 0.6, 0.5, True),
        (0.49, 0.6, 0.5, False),
        (0.25, 0.7, 0.5, True),
        (0.25, 0.6, 1.0, True),
        (0.24, 0.9, 1.0, False),
    ],
)
def test_the_starters_question_has_the_words_of_the_asked_one(shared, similarity, coverage, expected):
    features = {"title_similarity": similarity, "title_shared": shared, "coverage": coverage}
    assert may_answer("passage", features, 0.9) is expected


@pytest.mark.parametrize(
    ("similarities", "expected"), [((), False), ((None, ALIKE - 0.01), False), ((None, ALIKE - 0.01, ALIKE), True)]
)
def test_a_starter_without_a_question_like_the_asked_one_cannot_answer(similarities, expected):
    starters = [
        replace(candidate("a", "starter", 1.0), signals=Signals(title_similarity=similarity))
        for similarity in similarities
    ]
    assert has_alike(starters) is expected
