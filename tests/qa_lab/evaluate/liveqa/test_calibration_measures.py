"""Measures of confidence against figures worked out by hand, and against every order of ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.evaluate.liveqa.calibration_measures import (
    Bin,
    area_under_risk,
    calibration_error,
    precision_at,
    reliability,
    risk_coverage,
    squared_errors,
)

CONFIDENCES = [0.9, 0.8, 0.65, 0.15]
RIGHT = [True, False, True, False]


def test_bins_of_equal_width():
    assert reliability([0.0, 0.09, 0.1, 1.0], [False, True, True, True]) == [
        Bin(2, pytest.approx(0.045), 0.5),
        Bin(1, pytest.approx(0.1), 1.0),
        Bin(1, 1.0, 1.0),
    ]


def test_calibration_error_by_hand():
    assert calibration_error(CONFIDENCES, RIGHT) == pytest.approx((0.1 + 0.8 + 0.35 + 0.15) / 4)
    two = (abs(0.15 - 0) + 3 * abs((0.9 + 0.8 + 0.65) / 3 - 2 / 3)) / 4
    assert calibration_error(CONFIDENCES, RIGHT, bins=2) == pytest.approx(two)
    assert calibration_error([0.75] * 4, [True, True, True, False]) == 0
    assert calibration_error([1.0, 0.0], [True, False]) == 0


def test_squared_errors_by_hand():
    assert squared_errors(CONFIDENCES, RIGHT) == pytest.approx([0.01, 0.64, 0.1225, 0.0225])


def test_risk_and_coverage_by_hand():
    coverage, risk = risk_coverage([0.15, 0.9, 0.65, 0.8], [False, True, True, False])  # the order does not matter
    assert coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert risk == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert area_under_risk(CONFIDENCES, RIGHT) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_precision_by_hand():
    assert precision_at(CONFIDENCES, RIGHT, coverage=0.5) == 0.5
    assert precision_at(CONFIDENCES, RIGHT, coverage=0.51) == pytest.approx(2 / 3)
    assert precision_at(CONFIDENCES, RIGHT, coverage=0.01) == 1
    assert precision_at([0.5, 0.4, 0.3], [True, False, True], coverage=0.5) == 0.5  # two of three are given


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=1, max_size=5))
def test_ties_stand_in_every_order(answers):
    curves = []
    for order in permutations(answers):
        wrong = [not right for _, right in sorted(order, key=lambda item: -item[0])]
        curves.append(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))
    _, risk = risk_coverage(*zip(*answers, strict=True))
    assert risk == pytest.approx(np.mean(curves, axis=0))


@pytest.mark.parametrize(
    ("confidences", "right", "output"),
    [([], [], r"at least 1, but got \(0,\)"), ([0.5], [True, False], r"\(2,\)"), ([0.5, 1.5], [True, False], "1.5")],
)
def test_what_cannot_be_measured_is_refused(confidences, right, output):
    with pytest.raises(ValueError, match=output):
        calibration_error(confidences, right)
    with pytest.raises(ValueError, match="got nan"):
        squared_errors([float("nan")], [True])
