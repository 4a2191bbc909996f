"""Weights of interpretations: against gradients, a closed form, and what they are for."""

from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize

from kg_index.training.fit_interpretations import Example, fit_weights

NAMES = ("x", "y")
PENALTY = 0.3


def examples(seed: int = 0, count: int = 30) -> list[Example]:
    """Readings of which that with the highest noisy 2x − y is right, now and then two."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        rows = rng.normal(size=(int(rng.integers(2, 6)), 2)) * (1, 3)
        worth = rows @ (2, -1) + rng.normal(size=len(rows))
        right = worth >= np.sort(worth)[-2 if number % 7 == 0 and len(rows) > 2 else -1]
        features = [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]
        found.append(Example(features, right.tolist(), 2.0 if number % 3 == 0 else 1.0))
    return found


def loss(weights: np.ndarray, given: list[Example], deviation: np.ndarray, penalty: float) -> float:
    """As the head of the module tells it, with weights of features as they are."""
    total = penalty * float(((weights * deviation) ** 2).sum())
    for each in given:
        scores = [exp(float(np.dot(weights, [row.get(n, 0.0) for n in NAMES]))) for row in each.features]
        right = sum(score for score, good in zip(scores, each.right, strict=True) if good)
        total -= each.weight * log(right / sum(scores))
    return total


def deviations(given: list[Example]) -> np.ndarray:
    return np.std([[row.get(n, 0.0) for n in NAMES] for each in given for row in each.features], axis=0)


@pytest.mark.parametrize("penalty", [0.05, PENALTY, 3.0])
def test_the_loss_is_at_its_least(penalty: float) -> None:
    given = examples()
    deviation = deviations(given)
    fitted = np.array([*fit_weights(given, NAMES, penalty=penalty).values()])
    for place in range(2):  # finite differences: flat in every direction
        step = np.eye(2)[place] * 1e-5
        slope = (loss(fitted + step, given, deviation, penalty) - loss(fitted - step, given, deviation, penalty)) / 2e-5
        assert abs(slope) < 1e-3
    other = minimize(loss, np.zeros(2), args=(given, deviation, penalty), method="BFGS")
    np.testing.assert_allclose(fitted, other.x, atol=1e-3)


def test_one_feature_by_hand() -> None:
    """Interpretations 1 (right) and 0: σ = ½, loss = −log σ(w) + λ w² / 4, minimal where 1 − σ(w) = λ w / 2."""
    weight = fit_weights([Example([{"x": 1.0}, {}], [True, False])], ["x"], penalty=PENALTY)["x"]
    assert 1 - 1 / (1 + exp(-weight)) == pytest.approx(PENALTY * weight / 2, abs=1e-6)
    assert weight > 0


def test_right_readings_stand_first_afterwards() -> None:
    fitted = fit_weights(examples(1, 80), NAMES)
    assert fitted["x"] > 0 > fitted["y"]
    asked = examples(2, 80)
    best = [int(np.argmax([sum(fitted[n] * row[n] for n in NAMES) for row in each.features])) for each in asked]
    assert np.mean([each.right[place] for each, place in zip(asked, best, strict=True)]) > 0.8


def test_an_example_of_weight_two_counts_as_two() -> None:
    given = examples()
    twice = [Example(each.features, each.right) for each in given for _ in range(int(each.weight))]
    one, other = fit_weights(given, NAMES), fit_weights(twice, NAMES)
    spread = deviations(given) / deviations(twice)  # what is penalised is told in deviations, which change a little
    np.testing.assert_allclose([*one.values()], [*other.values()], rtol=0.05 + abs(1 - spread).max())


def test_what_never_changes_weighs_nothing_and_what_all_share_does_not_count() -> None:
    given = [Example([{**row, "same": 7.0} for row in each.features], each.right, each.weight) for each in examples()]
    fitted = fit_weights(given, [*NAMES, "same", "nowhere"])
    assert (fitted["same"], fitted["nowhere"]) == pytest.approx((0, 0), abs=1e-9)
    assert {name: fitted[name] for name in NAMES} == pytest.approx(fit_weights(examples(), NAMES), abs=1e-4)


@pytest.mark.parametrize("given", [[], [Example([{"x": 1.0}], [True])], [Example([{"x": 1.0}, {}], [False, False])]])
def test_without_right_and_wrong_readings_there_is_nothing_to_fit(given: list[Example]) -> None:
    with pytest.raises(ValueError, match="right and wrong interpretations, but got none"):
        fit_weights(given, NAMES)


def test_questions_that_tell_nothing_change_nothing() -> None:
    idle = [Example([{"x": 50.0}], [True]), Example([{"x": 9.0}, {"y": 1.0}], [False, False])]
    assert fit_weights([*examples(), *idle], NAMES) == fit_weights(examples(), NAMES)
