"""The last layer of a network: `softmax(W_s z + b_s)` over all words.

Letters: N positions, D size of z, V words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from generators.inference.activations import logsumexp
from qa_core.types import FloatArray, IntArray

_BLOCK = 128
"""Positions whose logits are held at once: 5 MB for 9,000 words."""


@dataclass(frozen=True, slots=True, eq=False)
class OutputLayer:
    weight: FloatArray  # W_s (V, D)
    bias: FloatArray  # b_s (V,)

    @property
    def in_features(self) -> int:
        size: int = self.weight.shape[1]
        return size

    def logits(self, z: FloatArray) -> FloatArray:
        """(N, D) to (N, V)."""
        logits: FloatArray = z @ self.weight.T
        logits += self.bias
        return logits

    def log_likelihoods(self, z: FloatArray, words: IntArray) -> FloatArray:
        """`log p(w | z)` (N,) of words (N,)."""
        log_p = [self._true(logits, words[part]) - logsumexp(logits) for part, logits in self._blocks(z)]
        return np.concatenate(log_p) if log_p else np.zeros(0, dtype=np.float32)

    def log_totals(self, z: FloatArray) -> FloatArray:
        """`log Σ_w exp(W_s z + b_s)` (N,)."""
        totals = [logsumexp(logits) for _, logits in self._blocks(z)]
        return np.concatenate(totals) if totals else np.zeros(0, dtype=np.float32)

    def rows(self, words: IntArray) -> tuple[FloatArray, FloatArray]:
        """Weights (N, D) and biases (N,) of words (N,)."""
        return self.weight[words], self.bias[words]

    def _blocks(self, z: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        for start in range(0, len(z), _BLOCK):
            part = slice(start, start + _BLOCK)
            yield part, self.logits(z[part])

    @staticmethod
    def _true(logits: FloatArray, words: IntArray) -> FloatArray:
        return logits[np.arange(len(words)), words]
