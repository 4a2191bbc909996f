import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from qa_core.measures.significance import randomisation_test, sign_test


def test_nine_of_ten():
    # 2 · (C(10, 0) + C(10, 1)) / 2¹⁰ = 2 · 11 / 1024
    assert sign_test(9, 1) == sign_test(1, 9) == 22 / 1024
    assert sign_test(5, 5) == sign_test(0, 0) == sign_test(1, 0) == 1.0
    assert sign_test(6, 0) == 2 / 64


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_is_a_binomial_one(wins: int, losses: int):
    expected = scipy.stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_all_signs_of_a_few_differences():
    # of the 8 sums of ±1 ±2 ±3, as far out as 1 + 2 + 3 are 6 and −6
    assert randomisation_test([1, 2, 3], seed=0) == 2 / 8
    # as far out as 1 − 2 + 3 = 2: ±6, ±4 and ±2 but not the two zeros
    assert randomisation_test([1, -2, 3], seed=0) == 6 / 8
    assert randomisation_test([0, 1, 0, 2, 3, 0], seed=0) == 2 / 8
    assert randomisation_test([], seed=0) == randomisation_test([0, 0], seed=0) == 1.0


@given(st.lists(st.sampled_from([-1, 1]), max_size=12))
def test_of_wins_and_losses_it_is_the_sign_test(verdicts: list[int]):
    assert randomisation_test(verdicts, seed=0) == pytest.approx(sign_test(verdicts.count(1), verdicts.count(-1)))


def test_drawn_signs_come_near_the_exact_test():
    differences = np.random.default_rng(5).normal(0.3, 1, size=30)
    drawn = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=50_000, rng=np.random.default_rng(1)
    )
    assert randomisation_test(differences.tolist(), seed=2, samples=50_000) == pytest.approx(drawn.pvalue, abs=0.01)
    assert randomisation_test(differences.tolist(), seed=3) == randomisation_test(differences.tolist(), seed=3)
