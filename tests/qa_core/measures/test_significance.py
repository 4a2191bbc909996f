import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.measures.significance import randomisation_test, sign_test


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
