import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.measures.significance import dependent_correlations, randomisation_test, sign_test


def test_nine_of_ten():
    # 2 · (C(10, 0) + C(10, 1)) / 2¹⁰ = 2 · 11 / 1024
    assert sign_test(9, 1) == sign_test(1, 9) == 22 / 1024
    assert sign_test(5, 5) == sign_test(0, 0) == sign_test(1, 0) == 1.0
    assert sign_test(6, 0) == 2 / 64


def test_all_signs_of_a_few_differences():
    # of the 8 sums of ±1 ±2 ±3, two are at least as extreme as 1 + 2 + 3
    assert randomisation_test([1, 2, 3], seed=0) == 2 / 8
    # at least as extreme as 1 − 2 + 3 = 2: ±6, ±4 and ±2, but not the two zeros
    assert randomisation_test([1, -2, 3], seed=0) == 6 / 8
    assert randomisation_test([0, 1, 0, 2, 3, 0], seed=0) == 2 / 8
    assert randomisation_test([], seed=0) == randomisation_test([0, 0], seed=0) == 1.0


@given(st.lists(st.sampled_from([-1, 1]), max_size=12))
def test_for_wins_and_losses_it_equals_the_sign_test(verdicts: list[int]):
    assert randomisation_test(verdicts, seed=0) == pytest.approx(sign_test(verdicts.count(1), verdicts.count(-1)))


def test_drawn_signs_come_near_the_exact_test():
    differences = np.random.default_rng(5).normal(0.3, 1, size=13).tolist()
    exact = randomisation_test(differences, seed=0)
    assert randomisation_test(differences, seed=2, samples=8_000) == pytest.approx(exact, abs=0.01)
    assert randomisation_test(differences, seed=3, samples=100) == randomisation_test(differences, seed=3, samples=100)


def test_dependent_correlations_by_hand():
    """r̄ = .4, ψ = .272 − .0416 = .2304, s = .2304 / .7056 = .326531; Z = .239786 · 10 / √1.346939 = 2.06610."""
    p = dependent_correlations(0.5, 0.3, 0.4, 103)
    assert p == pytest.approx(0.019410, abs=1e-5)
    assert dependent_correlations(0.3, 0.5, 0.4, 103) == pytest.approx(1 - p)
    assert dependent_correlations(0.4, 0.4, 0.2, 50) == 0.5
    assert np.isnan(dependent_correlations(0.5, 0.3, 0.4, 3))
    assert np.isnan(dependent_correlations(1.0, 0.3, 0.4, 30))


def test_dependent_correlations_of_equal_scores_that_differ_by_chance():
    """Under equal correlations in the population, p is uniform: about a tenth of samples are below .1."""
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(400):
        shared = rng.normal(size=(60, 1))
        gold, first, second = (shared + rng.normal(size=(60, 3))).T
        r = np.corrcoef([gold, first, second])
        below += dependent_correlations(r[0, 1], r[0, 2], r[1, 2], 60) < 0.1
    assert 25 <= below <= 55
