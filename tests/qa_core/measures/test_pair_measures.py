import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.measures.pair_measures import auc, rank_correlation


def test_area_by_hand():
    score = auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    assert score.mean == (2 + 1.5) / 4
    assert score.per_query == {"0": 1.0, "1": 0.75}
    assert score.standard_error == pytest.approx(math.sqrt(0.03125 / 2 + 0.03125 / 2))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=20))
def test_area_is_the_share_of_won_comparisons(pairs):
    scores, labels = [float(s) for s, _ in pairs], [label for _, label in pairs]
    won = [(a > b) + (a == b) / 2 for a, y in pairs if y for b, z in pairs if not z]
    results = auc(scores, labels).mean
    assert math.isnan(results) if not won else results == pytest.approx(np.mean(won))


def test_nan_scores_are_rejected():
    with pytest.raises(ValueError, match=r"got 2 scores \(1 of them NaN\) and 2 labels"):
        auc([1.0, float("nan")], [True, False])
    with pytest.raises(ValueError, match="got 1 scores"):
        auc([1.0], [True, False])


def test_correlation_has_its_error():
    score = rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    assert score.mean == pytest.approx(0.8)
    assert score.standard_error == pytest.approx(math.sqrt(0.36 / 2))
    assert math.isnan(rank_correlation([1, 2], [1, 2]).standard_error)
