"""Several models that choose the next word together: step functions made of others (thesis, ch. 8.4.2).

Letters: B texts, V words. All of the models speak one vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from qa_core.networks.beam_search import Selectable, Step


@dataclass(frozen=True, slots=True, eq=False)
class JointState:
    """Where each of the models stands in the same texts."""

    states: tuple[Selectable, ...]

    def select(self, rows: Tensor) -> Self:
        return type(self)(tuple(state.select(rows) for state in self.states))


def multiplied(steps: Sequence[Step[Any]], weights: Sequence[float]) -> Step[JointState]:
    """The step of `Π_i p_i(t)^w_i`, renormalised; what it tells are log-probabilities (B, V).

    Raises ValueError for weights that are negative, all zero, or not one for each step.
    """
    _check(weights, len(steps))

    def step(state: JointState, tokens: Tensor) -> tuple[Tensor, JointState]:
        told, states = _told(steps, state, tokens)
        return product(told, weights), states

    return step


def mixed(steps: Sequence[Step[Any]], weights: Sequence[float]) -> Step[JointState]:
    """The step of `Σ_i w_i p_i(t) / Σ_i w_i`; what it tells are log-probabilities (B, V).

    Raises ValueError for weights that are negative, all zero, or not one for each step.
    """
    _check(weights, len(steps))

    def step(state: JointState, tokens: Tensor) -> tuple[Tensor, JointState]:
        told, states = _told(steps, state, tokens)
        return mixture(told, weights), states

    return step


def product(told: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """log-probabilities (B, V) of `Π_i p_i^w_i`, renormalised, of log-probabilities (B, V) each."""
    total = torch.zeros_like(told[0])
    for log_p, weight in zip(told, weights, strict=True):
        if weight:  # p^0 is 1, also where p is 0
            total = total + weight * log_p
    return total.log_softmax(1)


def mixture(told: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """log-probabilities of `Σ_i w_i p_i / Σ_i w_i`, of log-probabilities of one shape."""
    shares = torch.tensor(weights, dtype=told[0].dtype, device=told[0].device)
    return (torch.stack(list(told), dim=-1) + (shares / shares.sum()).log()).logsumexp(-1)


def _told(steps: Sequence[Step[Any]], state: JointState, tokens: Tensor) -> tuple[list[Tensor], JointState]:
    """log p (B, V) of each model, and their states behind the tokens."""
    found = [step(own, tokens) for step, own in zip(steps, state.states, strict=True)]
    return [logits.log_softmax(1) for logits, _ in found], JointState(tuple(state for _, state in found))


def _check(weights: Sequence[float], count: int) -> None:
    if len(weights) != count:
        raise ValueError(f"Expected a weight for each of {count} models, but got {len(weights)}.")
    if not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
        told = ", ".join(f"{weight:g}" for weight in weights)
        raise ValueError(f"Expected weights of 0 or more, not all of them 0, but got {told}; change them.")
