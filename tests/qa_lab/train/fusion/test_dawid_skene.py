"""Who can be relied on: fixed points by hand, and voters whose accuracy is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qa_lab.train.fusion.dawid_skene import STRANGER, SUREST, Reliability, Votes, reliability

ONE = math.log(STRANGER / (1 - STRANGER))
"""What a stranger's vote says."""


def estimate(*votes: tuple[int, int, bool], weight: float = 1.0) -> Reliability:
    """Of (item, voter, up)."""
    item, voter, up = (np.array(column) for column in zip(*votes, strict=True))
    return reliability(Votes(item, voter, up, np.full(len(votes), weight)))


def test_a_lone_vote_is_a_strangers():
    alone = estimate((0, 0, True), (1, 1, False))
    np.testing.assert_allclose(alone.evidence, [ONE, -ONE])
    np.testing.assert_allclose(alone.accuracy, STRANGER)


def test_half_a_vote_says_half():
    np.testing.assert_allclose(estimate((0, 0, True), weight=0.5).evidence, [ONE / 2])


def test_two_strangers_who_agree_once_stay_strangers():
    # each is right by the other's word with 0.7, which is what was believed of them before
    both = estimate((0, 0, True), (0, 1, True))
    np.testing.assert_allclose(both.accuracy, STRANGER)
    np.testing.assert_allclose(both.evidence, [2 * ONE])


def test_two_who_disagree_are_believed_less_and_cancel_out():
    # a = (4 · 0.7 + (1 − a)) / 5, so a = 3.8 / 6
    both = estimate((0, 0, True), (0, 1, False))
    np.testing.assert_allclose(both.accuracy, 3.8 / 6)
    np.testing.assert_allclose(both.evidence, [0.0], atol=1e-9)


def test_one_who_always_opposes_the_others_is_not_heard_and_not_turned_round():
    votes = [(item, voter, voter < 4) for item in range(8) for voter in range(5)]
    crowd = estimate(*votes, (8, 4, True))
    assert crowd.accuracy[4] < 0.5
    assert (crowd.accuracy[:4] > 0.85).all()
    assert crowd.evidence[8] == 0.0


def test_accuracies_of_a_crowd_are_found_again():
    """Of 300 items, by nine voters who are right so often."""
    rng = np.random.default_rng(0)
    accuracy = np.array([0.9] * 4 + [0.75] * 3 + [0.5, 0.1])
    truth = rng.random(300) < 0.5
    item, voter = np.repeat(np.arange(300), 9), np.tile(np.arange(9), 300)
    right = rng.random(2700) < accuracy[voter]
    crowd = reliability(Votes(item, voter, truth[item] == right, np.ones(2700)))
    np.testing.assert_allclose(crowd.accuracy, accuracy, atol=0.06)
    assert ((crowd.evidence > 0) == truth).mean() > 0.97
    majority = np.bincount(item, np.where(truth[item] == right, 1, -1)) > 0
    assert ((crowd.evidence > 0) == truth).mean() > (majority == truth).mean()


def test_nobody_is_believed_beyond_doubt():
    votes = [(item, voter, True) for item in range(200) for voter in range(3)]
    most = math.log(SUREST / (1 - SUREST))
    assert estimate(*votes).evidence.max() == pytest.approx(3 * most)


def test_no_votes():
    nothing = np.zeros(0, np.int64)
    crowd = reliability(Votes(nothing, nothing, nothing > 0, np.zeros(0)))
    assert (len(crowd.accuracy), len(crowd.evidence)) == (0, 0)
