"""Late interaction by hand: three words, three tokens, two dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from rankers.late_interaction import soft_minimum, unit_rows, word_cover, word_vectors


def test_a_word_is_the_mean_of_its_tokens() -> None:
    states = np.array([[9.0, 9.0], [2.0, 0.0], [0.0, 2.0], [3.0, 4.0]], np.float32)
    tokens = [(0, 0), (0, 2), (2, 5), (6, 9)]  # a special token, "re" and "set" of "reset", "tap"
    vectors = word_vectors(states, tokens, [(0, 5), (6, 9), (10, 12)])
    assert vectors[0] == pytest.approx([0.5**0.5, 0.5**0.5]), "the mean (1, 1) in unit length"
    assert vectors[1] == pytest.approx([0.6, 0.8])
    assert vectors[2].tolist() == [0.0, 0.0], "a word that was cut off has no tokens"


def test_cover_is_the_scaled_highest_cosine() -> None:
    words = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], np.float32)
    tokens = np.array([[1.0, 0.0], [0.8, 0.6]], np.float32)
    # highest cosines: 1, .6 and .96; (.6 − .2) / .5 = .8, the others are more than 1
    assert word_cover(words, tokens, [False] * 3) == pytest.approx([1.0, 0.8, 1.0])
    assert word_cover(-words, tokens, [False, False, True]) == pytest.approx([0.0, 0.0, 1.0]), "the word itself"
    assert word_cover(words, tokens, [False] * 3, [True, False, False]) == pytest.approx([0.0, 0.8, 1.0]), "absent"


def test_cover_without_words_or_tokens() -> None:
    none = np.zeros((0, 2), np.float32)
    assert word_cover(none, none, []).tolist() == []
    assert word_cover(np.ones((2, 2), np.float32), none, [True, False]).tolist() == [1.0, 0.0]


def test_soft_minimum_by_hand() -> None:
    assert soft_minimum(np.array([0.4, 0.4]), [1.0, 3.0]) == pytest.approx(0.4)
    assert soft_minimum(np.zeros(0), []) == 0.0
    # −ln((1 · e^−3 + 3 · e^0) / 4) / 3
    assert soft_minimum(np.array([1.0, 0.0]), [1.0, 3.0]) == pytest.approx(-np.log((np.exp(-3) + 3) / 4) / 3)


def test_one_uncovered_word_counts_more_than_in_the_mean() -> None:
    shares = np.array([1.0, 1.0, 0.0])
    assert soft_minimum(shares, [1.0] * 3) == pytest.approx(0.3346, abs=1e-4), "the mean is .67"


def test_zero_rows_stay() -> None:
    assert unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))
