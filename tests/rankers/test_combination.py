"""The combination formula by hand."""

import pytest

from rankers.combination import combine, evidence, min_max


def test_formula_by_hand():
    combined = combine([10.0, 9.8, 5.0], [0.2, 0.6, 0.4], weight=0.1)
    assert combined == pytest.approx([10.0, 9.8 * 1.1, 5 * 1.05])


def test_a_skipped_passage_stage_leaves_the_clue_scores():
    assert combine([1.0, 2.0], [None, None]) == [1.0, 2.0]


def test_a_missing_passage_score_counts_as_the_lowest():
    assert combine([1.0, 1.0, 1.0], [0.5, None, 0.7], weight=1.0) == pytest.approx([1.0, 1.0, 2.0])


def test_min_max_of_nothing_and_of_one_score():
    assert min_max([]) == []
    assert min_max([3.0, 3.0]) == [0.0, 0.0]
    assert min_max([1.0, 3.0, 2.0]) == [0.0, 1.0, 0.5]


def test_evidence_by_hand():
    assert evidence(0.5, 0.5, 0.5) == pytest.approx(0.5 + 0.25 + 0.0625)
    assert evidence(0.2, 1.3, -0.4) == pytest.approx(1.2)


def test_an_identical_question_beats_better_retrieval_scores():
    assert evidence(0.4, 1.0, 1.0) > evidence(1.0, 0.7, 0.8)
