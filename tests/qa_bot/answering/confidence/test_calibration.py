"""Calibrations of generated questions with known labels."""

import numpy as np
import pytest

from qa_bot.answering.confidence.calibration import FEATURES, Calibration
from qa_bot.answering.confidence.logistic_regression import cross_validated, fit, precision_table


def rows(n, seed=0):
    """Random rows with P(right) = σ(8 (similarity − .5)); the other features are noise."""
    rng = np.random.default_rng(seed)
    features = [dict(zip(FEATURES, rng.random(len(FEATURES)), strict=True)) for _ in range(n)]
    right = [bool(rng.random() < 1 / (1 + np.exp(-8 * (f["title_similarity"] - 0.5)))) for f in features]
    return features, right


def test_the_fit_recovers_the_true_weights():
    calibration = fit(*rows(4000), penalty=0.0)
    raw = np.array(calibration.weights) / calibration.deviation
    assert raw[0] == pytest.approx(8, rel=0.1)
    assert np.abs(raw[1:]).max() < 0.6


@pytest.mark.parametrize("penalty", [None, 0.5, 1.0, 4.0])
def test_a_fit_of_two_rows_by_hand(penalty):
    """The scaled feature is z = ±1. At the optimum penalty · w = Σ (y − p) z = 2 (1 − σ(w)); the bias is 0."""
    options = {} if penalty is None else {"penalty": penalty}
    features = [{"coverage": 5.0, "words": 3.0}, {"coverage": 1.0, "words": 3.0}]
    calibration = fit(features, [True, False], names=("coverage", "words"), **options)
    assert (calibration.mean, calibration.deviation) == ((3.0, 3.0), (2.0, 1.0))  # a constant feature is not scaled
    w, constant = calibration.weights
    assert (penalty or 1.0) * w == pytest.approx(2 / (1 + np.exp(w)))
    assert (constant, calibration.bias) == pytest.approx((0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("coverage", "z"), [(0.5, 1), (0.75, 3), (0.25, -1), (0.0, -3), (None, -3), (100.0, 30), (-100.0, -30)]
)
def test_confidence_by_hand(coverage, z):
    """z = 2 (coverage − .5) / .25 + 1, within ±30; a feature that is missing is 0."""
    calibration = Calibration(("coverage",), (0.5,), (0.25,), (2.0,), bias=1.0)
    confidence = calibration.confidence({} if coverage is None else {"coverage": coverage})
    assert confidence / (1 - confidence) == pytest.approx(np.exp(z), rel=0.01)


def test_confidence_is_calibrated():
    calibration = fit(*rows(4000))
    features, right = rows(4000, seed=1)
    confidences = np.array([calibration.confidence(f) for f in features])
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (confidences >= low) & (confidences < low + 0.2)
        assert np.array(right)[inside].mean() == pytest.approx(confidences[inside].mean(), abs=0.05)


def test_the_threshold_reaches_the_precision_on_other_questions():
    features, right = rows(2000)
    calibration, _ = cross_validated(features, right, [str(i) for i in range(2000)])
    fresh, truth = rows(2000, seed=2)
    accepted = [t for f, t in zip(fresh, truth, strict=True) if calibration.confidence(f) >= calibration.threshold(0.9)]
    assert len(accepted) > 200
    assert np.mean(accepted) > 0.86
    assert calibration.threshold(0.0) == 0
    assert calibration.threshold(1.1) == 1


def test_precision_table_by_hand():
    thresholds, precisions = precision_table(np.array([0.1, 0.4, 0.6, 0.9]), [False, True, False, True], least=1)
    by_threshold = dict(zip(thresholds, precisions, strict=True))
    assert by_threshold[0.1] == 0.5
    assert by_threshold[0.2] == pytest.approx(2 / 3, abs=1e-4)
    assert by_threshold[0.5] == pytest.approx(2 / 3, abs=1e-4)  # 1/2, but precisions never fall
    assert by_threshold[0.7] == 1.0
    assert max(thresholds) == 0.9


def test_a_precision_table_has_a_threshold_for_each_percent_below_100():
    thresholds, precisions = precision_table(np.ones(10), [True] * 10)
    assert thresholds == tuple(percent / 100 for percent in range(100))
    assert precisions == (1.0,) * 100
    assert precision_table(np.ones(9), [True] * 9) == ((), ())  # by default 10 answers must reach a threshold


def test_a_weight_of_two_equals_two_rows():
    features, right = rows(60)
    twice = fit([*features, *features[:20]], [*right, *right[:20]])
    weighted = fit(features, right, weights=[2.0] * 20 + [1.0] * 40)
    for name in ("mean", "deviation", "weights", "bias"):
        assert getattr(weighted, name) == pytest.approx(getattr(twice, name), abs=1e-9)


def test_a_weighted_precision_table_by_hand():
    thresholds, precisions = precision_table(
        np.array([0.2, 0.4, 0.6]), [False, True, True], weights=[4.0, 1.0, 1.0], least=2
    )
    assert dict(zip(thresholds, precisions, strict=True))[0.2] == pytest.approx(2 / 6, abs=1e-4)
    assert max(thresholds) == 0.4  # two answers reach it, regardless of weights


def test_groups_stay_together():
    features, right = rows(60)
    _, held_out = cross_validated(features, right, ["a"] * 20 + ["b"] * 20 + ["c"] * 20, folds=3)
    without_a = fit(features[20:], right[20:])
    assert held_out[0] == pytest.approx(without_a.confidence(features[0]))


def test_five_folds_by_default():
    """Of six groups, four are held out alone and two together."""
    features, right = rows(120)
    _, held_out = cross_validated(features, right, [f"group {i // 20}" for i in range(120)])
    alone = 0
    for begin in range(0, 120, 20):
        others = [*range(begin), *range(begin + 20, 120)]
        fitted = fit([features[i] for i in others], [right[i] for i in others])
        alone += bool(held_out[begin] == pytest.approx(fitted.confidence(features[begin])))
    assert alone == 4


def test_equal_labels_are_refused():
    with pytest.raises(ValueError, match="3 right of 3"):
        fit([{}, {}, {}], [True, True, True])


def test_save_and_load(tmp_path):
    calibration, _ = cross_validated(*rows(200), [str(i) for i in range(200)])
    calibration.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == calibration
