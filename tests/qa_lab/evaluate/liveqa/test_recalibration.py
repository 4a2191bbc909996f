"""Recalibration: isotonic fits by the closed form, and folds that do not see the rows they score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.evaluate.liveqa.calibration_measures import calibration_error
from qa_lab.evaluate.liveqa.recalibration import held_out, isotonic, isotonic_after, isotonic_fit, logit, platt


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=15))
def test_the_isotonic_fit_is_the_max_of_mins(points):
    """The closed form: the maximum over lower bounds of the minimum over upper bounds of the mean between them."""
    x, y = np.array(points, float).T
    level, knots = isotonic_fit(x.tolist(), y.tolist()), np.unique(x)
    for knot in knots:
        mins = [min(y[(x >= low) & (x <= up)].mean() for up in knots[knots >= knot]) for low in knots[knots <= knot]]
        assert level(knot) == pytest.approx(max(mins))


def test_between_knots_confidence_rises_in_a_straight_line():
    confidence = isotonic("score")([{"score": 1.0}, {"score": 3.0}], [False, True])
    assert [confidence({"score": score}) for score in (0.0, 1.0, 2.0, 3.0, 9.0)] == [0, 0, 0.5, 1, 1]
    assert confidence({}) == 0


def test_each_is_judged_by_folds_that_did_not_see_it():
    rows = [{"id": float(i)} for i in range(10)]
    seen = []

    def make(train, right):
        known = {row["id"] for row in train}
        seen.append((known, sum(right)))
        return lambda row: float(row["id"] in known)

    right = [True] * 5 + [False] * 5
    assert held_out(make, rows, right).tolist() == [0.0] * 10
    assert [(len(known), rights) for known, rights in seen] == [(8, 4)] * 5  # every fold has its share of right ones
    again = list(seen)
    held_out(make, rows, right, seed=1)
    assert seen[5:] != again


def made_up(n, seed):
    """Overconfident scores: P(right) = σ(2 s), but the confidence is σ(8 s)."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    right = rng.random(n) < 1 / (1 + np.exp(-2 * s))
    return [{"sure": float(1 / (1 + np.exp(-8 * x))), "logit": 8 * float(x)} for x in s], right.tolist()


@pytest.mark.parametrize("way", [platt(["logit"]), isotonic("sure"), isotonic_after(platt(["logit"]))])
def test_what_is_too_sure_is_mended(way):
    rows, right = made_up(600, seed=0)
    before = calibration_error([row["sure"] for row in rows], right)
    assert before > 0.12
    assert calibration_error(held_out(way, rows, right), right) < 0.07


def test_too_few_of_either_kind_are_refused():
    with pytest.raises(ValueError, match="got 1 right of 3"):
        held_out(platt(["a"]), [{}, {}, {}], [True, False, False])
    with pytest.raises(ValueError, match="got 2 right of 3"):
        held_out(platt(["a"]), [{}, {}, {}], [True, True, False])


def test_logit():
    assert logit(0.5) == 0
    assert logit(0.9) == pytest.approx(np.log(9))
    assert logit(0.0) == pytest.approx(-logit(1.0))
    assert logit(0.0) == pytest.approx(-13.8, abs=0.1)
