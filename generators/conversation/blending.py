"""Several models that choose the next word together: step functions made of others (Wang 2018, ch. 8.4.2).

Letters: B texts, V words. All models share one vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from generators.conversation.decoding import Selectable, Step
from generators.inference.activations import log_softmax
from qa_core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class JointState:
    """The states of the models in the same texts."""

    states: tuple[Selectable, ...]

    def select(self, rows: IntArray) -> Self:
        return type(self)(tuple(state.select(rows) for state in self.states))


def multiplied(steps: Sequence[Step[Any]], weights: Sequence[float]) -> Step[JointState]:
    """The step of `Π_i p_i(t)^w_i`, renormalised; it returns logits (B, V), `Σ_i w_i` times those of each model.

    Raises ValueError for weights that are negative, all zero, or not one for each step.
    """
    _check(weights, len(steps))

    def step(state: JointState, tokens: IntArray) -> tuple[FloatArray, JointState]:
        logits, states = _step_all(steps, state, tokens)
        return _weighted(logits, weights), states

    return step


def mixed(steps: Sequence[Step[Any]], weights: Sequence[float]) -> Step[JointState]:
    """The step of `Σ_i w_i p_i(t) / Σ_i w_i`; it returns log-probabilities (B, V).

    Raises ValueError for weights that are negative, all zero, or not one for each step.
    """
    _check(weights, len(steps))

    def step(state: JointState, tokens: IntArray) -> tuple[FloatArray, JointState]:
        logits, states = _step_all(steps, state, tokens)
        return mixture([log_softmax(values) for values in logits], weights), states

    return step


def product(log_p: Sequence[FloatArray], weights: Sequence[float]) -> FloatArray:
    """log-probabilities (B, V) of `Π_i p_i^w_i`, renormalised, from log p_i (B, V) each."""
    return log_softmax(_weighted(log_p, weights))


def mixture(log_p: Sequence[FloatArray], weights: Sequence[float]) -> FloatArray:
    """log-probabilities of `Σ_i w_i p_i / Σ_i w_i`, from log p_i of one shape."""
    with np.errstate(divide="ignore"):  # the logarithm of a weight of 0 is −∞
        shares = np.log(np.array(weights, dtype=np.float32) / np.float32(sum(weights)))
    stacked = np.stack(list(log_p), axis=-1) + shares
    highest = stacked.max(axis=-1)
    possible = np.where(highest > -np.inf, highest, np.float32(0))
    with np.errstate(divide="ignore"):
        mixed_p: FloatArray = np.log(np.exp(stacked - possible[..., None]).sum(axis=-1)) + possible
    return mixed_p


def _step_all(steps: Sequence[Step[Any]], state: JointState, tokens: IntArray) -> tuple[list[FloatArray], JointState]:
    """Logits (B, V) of each model, and their states after the tokens."""
    results = [step(model_state, tokens) for step, model_state in zip(steps, state.states, strict=True)]
    return [logits for logits, _ in results], JointState(tuple(after for _, after in results))


def _weighted(values: Sequence[FloatArray], weights: Sequence[float]) -> FloatArray:
    """`Σ_i w_i x_i` of arrays (B, V); a weight of 0 leaves an array out, even if it has −∞."""
    total = np.zeros_like(values[0])
    for array, weight in zip(values, weights, strict=True):
        if weight:
            total = total + np.float32(weight) * array
    return total


def _check(weights: Sequence[float], count: int) -> None:
    if len(weights) != count:
        raise ValueError(f"Expected a weight for each of {count} models, but got {len(weights)}.")
    if not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
        values = ", ".join(f"{weight:g}" for weight in weights)
        raise ValueError(f"Expected weights of 0 or more, not all of them 0, but got {values}; change them.")
