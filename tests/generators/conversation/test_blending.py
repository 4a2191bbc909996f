import math

import numpy as np
import pytest

from generators.conversation.blending import JointState, mixed, mixture, multiplied, product
from generators.conversation.decoding import Sampling, sample
from generators.conversation.random_stream import RandomStream
from generators.inference.activations import softmax
from qa_core.networks.decoder_types import Limits


class NoState:
    """A state that steps ignore."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def select(self, rows: np.ndarray) -> "NoState":
        return NoState(len(rows))


def log(p) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.array(p, dtype=np.float32))


def step_of(*probabilities: float):
    def step(state: NoState, tokens: np.ndarray) -> tuple[np.ndarray, NoState]:
        assert len(tokens) == state.rows
        logits = log(probabilities) + np.float32(3)  # logits need not be log-probabilities
        return np.tile(logits, (len(tokens), 1)), state

    return step


ONE, OTHER = (0.5, 0.25, 0.25), (0.1, 0.1, 0.8)
BOTH = [step_of(*ONE), step_of(*OTHER)]


def probabilities_of(step, rows: int = 2) -> list[float]:
    logits, state = step(JointState((NoState(rows), NoState(rows))), np.zeros(rows, dtype=np.int64))
    assert isinstance(state, JointState)
    assert logits.shape == (rows, 3)
    np.testing.assert_allclose(logits[0], logits[-1])
    return softmax(logits)[0].tolist()


def test_a_product_by_hand():
    assert probabilities_of(multiplied(BOTH, [1, 1])) == pytest.approx([0.05 / 0.275, 0.025 / 0.275, 0.2 / 0.275])
    roots = [math.sqrt(0.5) * 0.01, 0.5 * 0.01, 0.5 * 0.64]
    assert probabilities_of(multiplied(BOTH, [0.5, 2])) == pytest.approx([p / sum(roots) for p in roots])


def test_a_mixture_by_hand():
    assert probabilities_of(mixed(BOTH, [1, 1])) == pytest.approx([0.3, 0.175, 0.525])
    assert probabilities_of(mixed(BOTH, [3, 1])) == pytest.approx([0.4, 0.2125, 0.3875])


@pytest.mark.parametrize("make", [multiplied, mixed])
def test_a_weight_of_zero_removes_a_model(make):
    assert probabilities_of(make(BOTH, [1, 0])) == pytest.approx(ONE)
    assert probabilities_of(make(BOTH, [0, 1])) == pytest.approx(OTHER)


def test_a_word_that_one_model_rules_out():
    certain = log([[1.0, 0.0]])
    even = log([[0.5, 0.5]])
    assert np.exp(product([certain, even], [1, 1])).tolist() == [[1.0, 0.0]]
    assert np.exp(product([certain, even], [0, 1])).tolist() == [[0.5, 0.5]]
    assert np.exp(mixture([certain, even], [1, 1])).tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize("weights", [[1], [0, 0], [1, -1], [1, math.inf], [1, math.nan]])
@pytest.mark.parametrize("make", [multiplied, mixed])
def test_invalid_weights_are_refused(make, weights):
    with pytest.raises(ValueError, match=r"Expected (a weight for each of 2 models|weights of 0 or more), "):
        make(BOTH, weights)


def test_states_are_selected_together():
    state = JointState((NoState(2), JointState((NoState(2), NoState(2)))))
    chosen = state.select(np.array([0, 0, 1]))
    assert [part.rows for part in (chosen.states[0], *chosen.states[1].states)] == [3, 3, 3]


def test_combined_steps_can_be_decoded():
    limits = Limits(start=0, end=2, length=4)
    state, likeliest = JointState((NoState(1), NoState(1))), Sampling(top_k=1, shortest=0)
    (text,) = sample(
        multiplied(BOTH, [1, 1]),
        state,
        1,
        limits=limits,
        stream=RandomStream(1),
        sampling=likeliest,
    )
    assert (text.tokens, text.finished) == ((), True)
    assert text.score == pytest.approx(math.log(0.2 / 0.275))
