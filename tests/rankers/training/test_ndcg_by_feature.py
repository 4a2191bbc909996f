"""nDCG@10 of each score alone, by hand and against ir-measures."""

from __future__ import annotations

import numpy as np
import pytest

from qa_core.measures.metrics import evaluate
from rankers.training.ndcg_by_feature import ndcg_by_feature

SECOND, THIRD = 1 / np.log2(3), 1 / np.log2(4)  # discounts of these ranks


def test_by_hand():
    question = np.array([7, 7, 7, 9, 9])
    grades = np.array([0.0, 2, 1, 1, 0])
    table = np.array([[1, 3, 5], [3, 2, 5], [2, 1, 5], [1, 2, 5], [0, 3, 5]], dtype=np.float32)
    ideal = 2 + SECOND
    shared = (1 + SECOND + THIRD) / 3  # three tied candidates share three ranks
    expected = [1.0, ((2 * SECOND + THIRD) / ideal + SECOND) / 2, (3 * shared / ideal + (1 + SECOND) / 2) / 2]
    np.testing.assert_allclose(ndcg_by_feature(table, grades, question), expected, rtol=1e-6)


def test_a_missing_score_is_the_lowest():
    question, grades = np.zeros(3, np.int64), np.array([1.0, 0, 0])
    table = np.array([[np.nan], [-1e9], [np.nan]], dtype=np.float32)
    assert ndcg_by_feature(table, grades, question)[0] == pytest.approx((SECOND + THIRD) / 2)


def test_a_constant_score_does_not_gain_from_the_order_of_the_rows():
    """Files often list right answers first."""
    question, grades = np.repeat(np.arange(4), 20), np.tile([1.0] + [0.0] * 19, 4)
    discounts = 1 / np.log2(np.arange(10) + 2)
    constant = np.zeros((80, 1), dtype=np.float32)
    assert ndcg_by_feature(constant, grades, question)[0] == pytest.approx(discounts.sum() / 20)
    assert ndcg_by_feature(constant[::-1], grades[::-1], question)[0] == pytest.approx(discounts.sum() / 20)


def test_questions_without_good_candidates_are_ignored():
    question = np.array([0, 0, 1, 1])
    table = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert ndcg_by_feature(table, np.zeros(4), question).tolist() == [0, 0]
    assert ndcg_by_feature(table, np.array([0.0, 0, 0, 1]), question).tolist() == [1, 1]  # of the second question
    assert ndcg_by_feature(table[:0], np.zeros(0), question[:0]).tolist() == [0, 0]


def test_without_ties_it_equals_ir_measures():
    rng = np.random.default_rng(3)
    question = rng.integers(0, 12, size=300)
    grades, table = rng.integers(0, 4, size=300).astype(float), rng.permutation(900).reshape(300, 3).astype(np.float32)
    rows = [np.flatnonzero(question == number) for number in range(12)]
    qrels = {str(number): {str(row): int(grades[row]) for row in of} for number, of in enumerate(rows)}
    for column, value in enumerate(ndcg_by_feature(table, grades, question)):
        run = {str(number): {str(row): float(table[row, column]) for row in of} for number, of in enumerate(rows)}
        assert value == pytest.approx(evaluate(qrels, run, ["nDCG@10"])["nDCG@10"].mean, abs=1e-6)
