"""The sum of the evidence for passages, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rankers.passage_evidence import (
    MOST,
    MOVED,
    PAIRS,
    PROSE,
    SAME_TITLE,
    TOPIC,
    averaged,
    mean,
    same_title_bonus,
    same_words_bonus,
    scaled,
    summed,
    topic_bonus,
)


def test_scores_are_scaled_between_the_floor_and_the_highest() -> None:
    assert scaled(np.array([2.0, 6.0, 4.0]), low=2.0).tolist() == [0.0, 1.0, 0.5]
    assert scaled(np.array([1.0, 5.0]), low=3.0).tolist() == [0.0, 1.0], "nothing is below 0"
    assert scaled(np.array([3.0, 3.0]), low=3.0).tolist() == [0.0, 0.0]
    assert scaled(np.zeros(0), low=0.0).tolist() == []


def test_prose_and_pairs_have_the_same_greatest_sum() -> None:
    best = {channel: np.array([1.0]) for channel in PAIRS}
    assert summed(best, PROSE) == pytest.approx([MOST])
    assert summed(best, PAIRS) == pytest.approx([MOST]) == [3.5]


def test_a_sum_by_hand() -> None:
    shares = {"passage": np.array([1.0, 0.5]), "unit": np.array([0.0, 1.0]), "words": np.array([0.5, 0.5])}
    # weights 1, 1 and 1; pieces are missing, so that the sum of three is scaled to 3.5
    assert summed(shares, PROSE) == pytest.approx([1.5 * 3.5 / 3, 2.0 * 3.5 / 3])


def test_only_a_title_that_asks_the_same_gets_the_bonus() -> None:
    bonus = same_title_bonus(np.array([1.0, 0.9, 0.5, -1.0]))
    assert bonus == pytest.approx([SAME_TITLE, SAME_TITLE * 0.9**16, SAME_TITLE * 0.5**16, 0.0])


def test_a_title_of_the_same_words_gets_the_bonus_without_vectors() -> None:
    titles = ["what is croup?", "What causes croup", "Mumps", ""]
    # shared words of (3, 3), (3, 3), (3, 1) and (3, 0)
    assert same_words_bonus("What is croup?", titles) == pytest.approx([SAME_TITLE, SAME_TITLE * (4 / 6) ** 16, 0, 0])


def test_the_mean_of_readings_is_scaled_again() -> None:
    readings = [{"words": np.array([1.0, 0.0]), "unit": np.array([0.5, 1.0])}, {"words": np.array([0.0, 0.5])}]
    assert mean(readings)["words"].tolist() == [0.5, 0.25]
    assert averaged(readings)["words"].tolist() == [1.0, 0.5], "divided by the highest mean"
    assert averaged(readings)["unit"].tolist() == [0.5, 1.0], "a reading without vectors does not count there"
    assert averaged([{"words": np.array([0.5])}])["words"].tolist() == [0.5], "a single reading is not changed"


def test_the_topic_gains_while_the_words_of_the_turn_fit_no_other_document_much_better() -> None:
    of_topic = np.array([True, False, True])
    assert topic_bonus(np.array([1.5, 1.5 + MOVED, 0.0]), of_topic).tolist() == [TOPIC, 0.0, TOPIC]
    assert topic_bonus(np.array([1.0, 1.25 + MOVED, 0.0]), of_topic).tolist() == [0.0, 0.0, 0.0], "the topic moved"
    assert topic_bonus(np.array([0.5, 0.25, 0.0]), np.full(3, fill_value=True)).tolist() == [TOPIC] * 3
    assert topic_bonus(np.array([0.5, 0.25]), np.zeros(2, np.bool_)).tolist() == [0.0, 0.0], "not found"
