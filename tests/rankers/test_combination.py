"""The thesis' combination formula by hand."""

import pytest

from qa_core.types import Candidate, Clue, Passage, Source
from rankers.combination import combine, evidence, min_max


def candidate(name, **features):
    return Candidate(Passage(name, "text", Clue(), Source(name)), 0.0, features)


def test_formula_by_hand():
    ranked = combine(
        [candidate("a", clue=10.0, sim=0.2), candidate("b", clue=9.8, sim=0.6), candidate("c", clue=5.0, sim=0.4)],
        clue="clue",
        passage="sim",
        weight=0.1,
    )
    assert [(c.passage.id, pytest.approx(c.score)) for c in ranked] == [
        ("b", 9.8 * 1.1),
        ("a", 10.0),
        ("c", 5 * 1.05),
    ]
    assert ranked[0].features["combined"] == ranked[0].score


def test_a_skipped_passage_stage_leaves_the_clue_order():
    ranked = combine([candidate("a", clue=1.0), candidate("b", clue=2.0)], clue="clue", passage="sim")
    assert [(c.passage.id, c.score) for c in ranked] == [("b", 2.0), ("a", 1.0)]


def test_min_max_of_nothing_and_of_one_score():
    assert min_max([]) == []
    assert min_max([3.0, 3.0]) == [0.0, 0.0]
    assert min_max([1.0, 3.0, 2.0]) == [0.0, 1.0, 0.5]


def test_evidence_by_hand():
    assert evidence(0.5, 0.5, 0.5) == pytest.approx(0.5 + 0.25 + 0.0625)
    assert evidence(0.2, 1.3, -0.4) == pytest.approx(1.2)


def test_the_very_same_question_beats_what_every_engine_likes_more():
    assert evidence(0.4, 1.0, 1.0) > evidence(1.0, 0.7, 0.8)
