"""The LSTM language model `p(T)`, run with numpy: the target side of an encoder-decoder without a source.

Letters: B texts, Q positions, L layers, H state size, D_z size of z, V words. Masks are true at real tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from generators.inference.activations import Mask
from generators.inference.encoder_decoder import part, preceding
from generators.inference.lstm import LSTM, LSTMState, Weights
from generators.inference.output_layer import OutputLayer
from qa_core.networks.decoder_types import SPECIALS
from qa_core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class LanguageModelConfig:
    """Sizes; the defaults are those of the encoder-decoder in Wang (2018)."""

    vocabulary: int  # V, special words included
    dimension: int = 300  # of word vectors
    hidden: int = 500  # H
    layers: int = 2  # L
    dropout: float = 0.2  # between layers and before the softmax
    tied: bool = False  # the softmax shares the word vectors; z_t has their width
    uniform: float = 0.08  # initial weights are drawn from ± this

    def __post_init__(self) -> None:
        if self.vocabulary <= len(SPECIALS):
            raise ValueError(
                f"Expected words beside the {len(SPECIALS)} special ones, but got a vocabulary of {self.vocabulary}; "
                "train on more texts."
            )


@dataclass(frozen=True, slots=True, eq=False)
class LanguageState:
    """The state of the model in a batch of texts."""

    hidden: FloatArray  # (L, B, H)
    cell: FloatArray  # (L, B, H)

    def select(self, rows: IntArray) -> Self:
        """The states of these texts (N,); a text may be repeated or left out."""
        return type(self)(self.hidden[:, rows], self.cell[:, rows])


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """`p(y_t | y_<t) = softmax(W_s z_t + b_s)`, `z_t = tanh(W_z h_t)`."""

    config: LanguageModelConfig
    weights: Weights  # by the names of torch; a tied table stands once, as words.E_tune

    def start(self, count: int) -> LanguageState:
        """The state before the first word of `count` texts."""
        zeros = self._lstm.zeros(count)
        return LanguageState(zeros.hidden, zeros.cell)

    def step(self, state: LanguageState, tokens: IntArray) -> tuple[FloatArray, LanguageState]:
        """Read tokens (B,), `<s>` at first; return logits (B, V) of the next ones and the new state."""
        words = self.weights["words.E_tune"][tokens]
        read, last = self._lstm.step(words, LSTMState(state.hidden, state.cell))
        return self.output.logits(self._z(read)), LanguageState(last.hidden, last.cell)

    def log_likelihood(self, target: IntArray, mask: Mask) -> FloatArray:
        """`Σ_t log p(y_t | y_<t)` (B,) of targets (B, Q) without `<s>`."""
        words = self.weights["words.E_tune"][preceding(target)]
        read, _ = self._lstm.read(words, mask, self._lstm.zeros(len(target)))
        log_p = np.zeros(target.shape, dtype=np.float32)
        log_p[mask] = self.output.log_likelihoods(self._z(read[mask]), target[mask])
        totals: FloatArray = log_p.sum(axis=1)
        return totals

    @cached_property
    def output(self) -> OutputLayer:
        table = self.weights["words.E_tune" if self.config.tied else "output.weight"]
        return OutputLayer(table, self.weights["output.bias"])

    @cached_property
    def _lstm(self) -> LSTM:
        return LSTM.of(part(self.weights, "lstm"), self.config.layers)

    def _z(self, states: FloatArray) -> FloatArray:
        z: FloatArray = np.tanh(states @ self.weights["z.weight"].T)
        return z
