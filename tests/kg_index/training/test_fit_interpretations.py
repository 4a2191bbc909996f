"""Weights of interpretations: a minimum of the loss, and invariances."""

from math import exp, log

import numpy as np
import pytest

from kg_index.training.fit_interpretations import Example, fit_weights

NAMES = ("x", "y")
PENALTY = 0.3


def examples(seed: int = 0, count: int = 30) -> list[Example]:
    """The interpretation with the highest noisy 2x − y is right; every seventh question has two right ones."""
    rng = np.random.default_rng(seed)
    questions = []
    for number in range(count):
        rows = rng.normal(size=(int(rng.integers(2, 6)), 2)) * (1, 3)
        value = rows @ (2, -1) + rng.normal(size=len(rows))
        right = value >= np.sort(value)[-2 if number % 7 == 0 and len(rows) > 2 else -1]
        features = [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]
        questions.append(Example(features, right.tolist(), 2.0 if number % 3 == 0 else 1.0))
    return questions


def loss(weights: np.ndarray, questions: list[Example], deviation: np.ndarray, penalty: float) -> float:
    """The loss of the module's docstring, for weights of the original features."""
    total = penalty * float(((weights * deviation) ** 2).sum())
    for question in questions:
        odds = [exp(float(np.dot(weights, [row.get(n, 0.0) for n in NAMES]))) for row in question.features]
        right = sum(value for value, good in zip(odds, question.right, strict=True) if good)
        total -= question.weight * log(right / sum(odds))
    return total


def deviations(questions: list[Example]) -> np.ndarray:
    return np.std([[row.get(n, 0.0) for n in NAMES] for example in questions for row in example.features], axis=0)


@pytest.mark.parametrize("penalty", [0.05, PENALTY, 3.0])
def test_the_loss_is_minimal(penalty: float) -> None:
    questions = examples()
    deviation = deviations(questions)
    fitted = np.array([*fit_weights(questions, NAMES, penalty=penalty).values()])
    for step in 1e-5 * np.eye(2):
        up, down = (loss(fitted + sign * step, questions, deviation, penalty) for sign in (1, -1))
        assert abs(up - down) / 2e-5 < 1e-5


def test_right_interpretations_rank_first() -> None:
    fitted = fit_weights(examples(1, 80), NAMES)
    assert fitted["x"] > 0 > fitted["y"]
    held_out = examples(2, 80)
    best = [
        int(np.argmax([sum(fitted[n] * row[n] for n in NAMES) for row in example.features])) for example in held_out
    ]
    assert np.mean([example.right[index] for example, index in zip(held_out, best, strict=True)]) > 0.8


def test_a_question_of_weight_two_counts_twice() -> None:
    questions = examples()
    twice = [Example(example.features, example.right) for example in questions for _ in range(int(example.weight))]
    one, other = fit_weights(questions, NAMES), fit_weights(twice, NAMES)
    spread = deviations(questions) / deviations(twice)  # the penalty depends on deviations, which change a little
    np.testing.assert_allclose([*one.values()], [*other.values()], rtol=0.05 + abs(1 - spread).max())


def test_constant_features_get_no_weight() -> None:
    same = [
        Example([{**row, "same": 7.0} for row in example.features], example.right, example.weight)
        for example in examples()
    ]
    fitted = fit_weights(same, [*NAMES, "same", "nowhere"])
    assert (fitted["same"], fitted["nowhere"]) == pytest.approx((0, 0), abs=1e-9)
    assert {name: fitted[name] for name in NAMES} == pytest.approx(fit_weights(examples(), NAMES), abs=1e-4)


@pytest.mark.parametrize("idle", [[], [Example([{"x": 1.0}], [True])], [Example([{"x": 1.0}, {}], [False, False])]])
def test_questions_without_right_and_wrong_interpretations(idle: list[Example]) -> None:
    with pytest.raises(ValueError, match="right and wrong interpretations, but got none"):
        fit_weights(idle, NAMES)
    assert fit_weights([*examples(), *idle], NAMES) == fit_weights(examples(), NAMES)
