"""The fitted weights are where the gradient vanishes, worked out by hand or by finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from qa_core.training.conditional_logit import Choice, any_right, cross_entropy, fit_conditional_logit

LOSSES = [(cross_entropy, np.array([0.2, 0.5, 0.3])), (any_right, np.array([True, False, True]))]


@pytest.mark.parametrize(("loss", "target"), LOSSES)
def test_gradients_are_finite_differences(loss: Callable[..., tuple[float, np.ndarray]], target: np.ndarray) -> None:
    scores = np.array([0.3, -1.2, 2.0])
    steps = [(loss(scores + step, target)[0] - loss(scores - step, target)[0]) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(loss(scores, target)[1], steps, atol=1e-7)


def test_losses_by_hand() -> None:
    scores = np.log([1.0, 2.0, 5.0])  # shares 1/8, 2/8, 5/8
    assert any_right(scores, np.array([True, True, False]))[0] == pytest.approx(-np.log(3 / 8))
    assert cross_entropy(scores, np.array([0.0, 0.5, 0.5]))[0] == pytest.approx(-np.log(10 / 64) / 2)


def test_one_weight_by_hand() -> None:
    """Options 1 (right) and 0: d/dw = −(1 − σ(w)) · 3 + 2 λ w = 0."""
    choice = Choice(np.array([[1.0], [0.0]]), np.array([True, False]), weight=3.0)
    (weight,) = fit_conditional_logit([choice], any_right, penalty=0.3)
    assert 3 * (1 - 1 / (1 + np.exp(-weight))) == pytest.approx(0.6 * weight, abs=1e-6)


def test_large_scores_do_not_overflow() -> None:
    assert any_right(np.array([1e4, 0.0]), np.array([False, True]))[0] == pytest.approx(1e4)
