"""What places let expect, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rankers.rank_prior import RankPrior


def test_shares_fall_like_the_discount_of_ndcg():
    # log2 of 2, 4 and 8: a half, a quarter and a sixth of one at the places 1, 3 and 7
    np.testing.assert_allclose(RankPrior(0.5).expected([0, 2, 6]), [1 / 2, 1 / 4, 1 / 6])
    np.testing.assert_allclose(RankPrior(0.5).log_odds([0, 2]), [0.0, -np.log(3)])


def test_a_place_that_nobody_knows_is_a_first_one():
    assert RankPrior(0.5).expected([np.nan]).tolist() == [0.5]


def test_what_is_learnt_is_added_in_log_odds():
    corrected = RankPrior(0.5).corrected([0, 2, 2], [0.0, np.log(3), 0.0])
    np.testing.assert_allclose(corrected, [0.5, 0.5, 0.25], rtol=1e-6)
    assert corrected.dtype == np.float32


@pytest.mark.parametrize("first", [0.0, 1.0, -0.2, float("nan")])
def test_a_first_place_is_neither_always_good_nor_never(first):
    with pytest.raises(ValueError, match="Expected a share between 0 and 1 for first places, but got"):
        RankPrior(first)
