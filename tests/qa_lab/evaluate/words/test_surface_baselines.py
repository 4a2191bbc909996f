import numpy as np
import pytest

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.evaluate.words.surface_baselines import (
    features,
    lemmatised_overlap,
    ridge,
    ridge_regression,
    strict_overlap,
    support_vector_regression,
    support_vectors,
)
from retrievers.training.phrases.trees import right_branching


def pair(left: str, right: str, gold: float = 0.0, **extra: float) -> Phrased:
    return Phrased(right_branching(left.split()), right_branching(right.split()), gold, features=tuple(extra.items()))


def test_overlaps():
    pairs = [pair("old houses", "house of stone"), pair("a b", "b a")]
    assert strict_overlap(pairs) == [0, 1]
    assert lemmatised_overlap(pairs) == [0.5, 1]


def test_ridge_by_hand():
    """One feature of unit variance: w = Σxy / (n + λ)."""
    inputs, gold = np.array([[-1.0], [1.0]]), np.array([0.0, 4.0])
    assert ridge(inputs, gold, np.array([[2.0]]), penalty=2.0).tolist() == pytest.approx([2 + 2 * 4 / (2 + 2)])
    assert ridge(np.ones((2, 1)), gold, np.ones((1, 1))).tolist() == [2]  # a constant feature says nothing


@pytest.mark.slow
def test_the_regression_finds_what_the_data_know():
    rng = np.random.default_rng(0)
    pairs = []
    for number in range(60):
        gold = float(rng.uniform())
        pairs.append(pair(f"w{number} x", "y z", gold, ppdb=2 * gold, noise=float(rng.uniform())))
    assert features(pairs).shape == (60, 13 + 2)
    gold = [item.gold for item in pairs]
    assert np.corrcoef(ridge_regression(pairs), gold)[0, 1] > 0.95
    assert np.corrcoef(support_vector_regression(pairs), gold)[0, 1] > 0.9


def test_one_pair_alone_is_not_predicted():
    assert ridge_regression([pair("a b", "c d", 1.0)]) == [0.0]
    assert support_vector_regression([pair("a b", "c d", 1.0)]) == [0.0]


def test_support_vectors_fit_a_curve_that_ridge_cannot():
    inputs = np.linspace(-1, 1, 80)[:, None]
    gold = inputs[:, 0] ** 2
    assert np.abs(support_vectors(inputs, gold, np.array([[0.0], [0.5]])) - [0.0, 0.25]).max() < 0.05
    assert np.abs(ridge(inputs, gold, np.array([[0.0]])) - 0.0).max() > 0.2
