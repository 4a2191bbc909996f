"""The acceptor of selective sampling (Wang 2018, ch. 8.3): the probability that a person would write a drawn word next.

Its features are `log p(w|S)`, the entropy of that step's distribution, and `log p(w)` of a language model that has read
the same words. `generators/training/acceptor_training.py` says what it is trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from generators.inference.activations import log_sigmoid
from generators.inference.lstm import Weights
from qa_core.types import FloatArray, IntArray

FEATURES = 3


class Accepts(Protocol):
    """An acceptor, or several of them."""

    def __call__(self, features: FloatArray, /) -> FloatArray:
        """Features (…, 3) to the log-probability (…) that a word is right."""
        ...


@dataclass(frozen=True, slots=True)
class AcceptorConfig:
    hidden: int = 16  # units of its one layer
    epochs: int = 5
    batch: int = 512
    learning_rate: float = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Acceptor:
    """`log p(right | features)` of a perceptron with one hidden layer, which standardises its features first."""

    weights: Weights

    def __call__(self, features: FloatArray) -> FloatArray:
        """Features (…, 3) to log-probabilities (…) that the word is right."""
        weights = self.weights
        standard = (features - weights["mean"]) / weights["scale"]
        hidden = np.tanh(standard @ weights["layers.0.weight"].T + weights["layers.0.bias"])
        return log_sigmoid((hidden @ weights["layers.2.weight"].T + weights["layers.2.bias"])[..., 0])


def acceptor_features(log_p: FloatArray, log_prior: FloatArray, words: IntArray) -> FloatArray:
    """Features (B, N, 3) of words (B, N), from the steps' log p(w|S) and log p(w), (B, V) each."""
    entropy = -(np.exp(log_p) * np.maximum(log_p, -1e4)).sum(axis=1)  # (B,); 0 log 0 is 0
    parts = (
        np.take_along_axis(log_p, words, axis=1),
        np.broadcast_to(entropy[:, None], words.shape),
        np.take_along_axis(log_prior, words, axis=1),
    )
    return np.stack(parts, axis=-1)
