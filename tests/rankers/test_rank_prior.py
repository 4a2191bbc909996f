"""The prior of ranks, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rankers.rank_prior import RankPrior


def test_probabilities_fall_like_the_discount_of_ndcg():
    # log2 of 2, 4 and 8: a half, a quarter and a sixth of one at ranks 1, 3 and 7
    np.testing.assert_allclose(RankPrior(0.5).expected([0, 2, 6]), [1 / 2, 1 / 4, 1 / 6])
    np.testing.assert_allclose(RankPrior(0.5).log_odds([0, 2]), [0.0, -np.log(3)])


def test_an_unknown_rank_counts_as_the_first():
    assert RankPrior(0.5).expected([np.nan]).tolist() == [0.5]


def test_corrections_are_added_in_log_odds():
    corrected = RankPrior(0.5).corrected([0, 2, 2], [0.0, np.log(3), 0.0])
    np.testing.assert_allclose(corrected, [0.5, 0.5, 0.25], rtol=1e-6)
    assert corrected.dtype == np.float32


@pytest.mark.parametrize("first", [0.0, 1.0, -0.2, float("nan")])
def test_a_share_of_0_or_1_is_refused(first):
    with pytest.raises(ValueError, match="Expected a share between 0 and 1 for first ranks, but got"):
        RankPrior(first)
