"""The LSTM language model `p(T)`: what the encoder-decoder's target side is without a source.

Letters: B texts, Q positions, L layers, H state size, V words. Masks are true at real tokens, which come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.decoder_types import SPECIALS, START_ID
from qa_core.networks.poolings import WordEmbedding


@dataclass(frozen=True, slots=True)
class LanguageModelConfig:
    """As the thesis' encoder-decoder."""

    vocabulary: int  # V, special words included
    dimension: int = 300  # of word vectors
    hidden: int = 500  # H
    layers: int = 2  # L
    dropout: float = 0.2  # between layers and before the softmax
    tied: bool = False  # the softmax shares the word vectors, z_t is as wide as one
    uniform: float = 0.08  # trained weights start within ± this

    def __post_init__(self) -> None:
        if self.vocabulary <= len(SPECIALS):
            raise ValueError(
                f"Expected words beside the {len(SPECIALS)} special ones, but got a vocabulary of {self.vocabulary}; "
                "train on more texts."
            )


@dataclass(frozen=True, slots=True, eq=False)
class LanguageState:
    """Where the model stands in a batch of texts."""

    hidden: Tensor  # (L, B, H)
    cell: Tensor  # (L, B, H)

    def select(self, rows: Tensor) -> Self:
        """The states of these texts (N,), which may stand there repeatedly or not at all."""
        rows = rows.to(self.hidden.device)
        return type(self)(self.hidden[:, rows], self.cell[:, rows])


class LanguageModel(nn.Module):
    """`p(y_t | y_<t) = softmax(W_s z_t + b_s)`, where `z_t = tanh(W_z h_t)`."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        between = config.dropout if config.layers > 1 else 0.0
        width = config.dimension if config.tied else config.hidden
        self.words = WordEmbedding(config.vocabulary, config.dimension)
        self.lstm = nn.LSTM(config.dimension, config.hidden, config.layers, batch_first=True, dropout=between)
        self.z = nn.Linear(config.hidden, width, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(width, config.vocabulary)
        if config.tied:
            self.output.weight = self.words.table
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.uniform, config.uniform)

    def start(self, count: int) -> LanguageState:
        """The state before the first word of `count` texts."""
        shape = (self.config.layers, count, self.config.hidden)
        zeros = torch.zeros(shape, device=self.output.bias.device)
        return LanguageState(zeros, zeros)

    def step(self, state: LanguageState, tokens: Tensor) -> tuple[Tensor, LanguageState]:
        """The tokens (B,) read last, `<s>` at first, to logits (B, V) of the next ones and the state behind them."""
        words = self.words(tokens.to(state.hidden.device).unsqueeze(1))  # (B, 1, D)
        read, (hidden, cell) = self.lstm(words, (state.hidden, state.cell))
        return self.output(self._z(read.squeeze(1))), LanguageState(hidden, cell)

    def token_log_likelihood(self, target: Tensor, mask: Tensor) -> Tensor:
        """`log p(y_t | y_<t)`, (B, Q), 0 in the padding; target (B, Q) without `<s>`, mask (B, Q)."""
        losses = functional.cross_entropy(
            self.output(self.before_softmax(target, mask)), target[mask], reduction="none"
        )
        return losses.new_zeros(target.shape).masked_scatter(mask, -losses)

    def token_distributions(self, target: Tensor, mask: Tensor) -> Tensor:
        """`log p(· | y_<t)`, (N, V), at the N real tokens of all targets in order."""
        logits: Tensor = self.output(self.before_softmax(target, mask))
        return logits.log_softmax(1)

    def before_softmax(self, target: Tensor, mask: Tensor) -> Tensor:
        """z_t (N, D_z) at the N real tokens of all targets in order, dropped out where training is on."""
        given = functional.pad(target[:, :-1], (1, 0), value=START_ID)  # (B, Q)
        states, _ = self.lstm(self.words(given))
        return self._z(states[mask])

    def log_likelihood(self, target: Tensor, mask: Tensor) -> Tensor:
        """`Σ_t log p(y_t | y_<t)`, (B,); arguments as in `token_log_likelihood`."""
        return self.token_log_likelihood(target, mask).sum(1)

    def _z(self, states: Tensor) -> Tensor:
        z: Tensor = self.dropout(torch.tanh(self.z(states)))
        return z
