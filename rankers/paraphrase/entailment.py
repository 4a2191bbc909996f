"""Neural dual entailment: a network that detects questions that ask the same (Wang 2018, ch. 5).

Encode: `E = E_pre + E_tune`, a BiLSTM `h¹` and another over it `h²`, `h_i = E[w_i] + h¹_i + h²_i` (5.1, 5.2).
Align: `e_ij = h_i · h̄_j`, `α_ij = softmax_j e_ij`, `h̃_i = Σ_j α_ij h̄_j` (5.3 to 5.5).
Match and aggregate: `m_i = MLP([h_i, h̃_i, (h_i − h̃_i)²])` (5.6), which an LSTM scans to its last state.
Predict: an MLP of two layers with batch norm, MaxOut and a linear layer give the score of one direction; the logit is
the sum of both directions, which share all weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from qa_core.networks.poolings import MaskedLSTM, WordEmbedding, last_pool
from rankers.paraphrase.contextual_words import Context, ContextEmbedding


@dataclass(frozen=True, slots=True)
class EntailmentConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # D, even: of word vectors and states; each direction of a BiLSTM has half of it
    hidden: int = 300  # of matching, aggregation and prediction
    pieces: int = 2  # of MaxOut
    dropout: float = 0.2
    pretrained: bool = False  # E_pre beside E_tune
    max_tokens: int = 64  # words of a text that are read
    uniform: float = 0.08  # initial weights are within ± this
    context: Context = field(default_factory=Context)  # words in context instead of E_pre and E_tune


class DualEntailment(nn.Module):
    """Symmetric in its inputs; in evaluation the score of a pair does not depend on the batch."""

    def __init__(self, config: EntailmentConfig) -> None:
        super().__init__()
        size, hidden = config.dimension, config.hidden
        if size % 2:
            raise ValueError(f"Expected an even dimension, half of it for each direction, but got {size}; change it.")
        self.config = config
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.lower, self.upper = (MaskedLSTM(size, size // 2) for _ in range(2))
        self.match = nn.Sequential(
            nn.Linear(3 * size, hidden), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.aggregate = MaskedLSTM(hidden, hidden, bidirectional=False)
        self.predict = nn.Sequential(
            *_normed(hidden, config.dropout),
            *_normed(hidden, config.dropout),
            MaxOut(hidden, hidden, config.pieces),
            nn.Linear(hidden, 1),
        )
        for name, weight in self.named_parameters():
            if not isinstance(self.get_submodule(name.rpartition(".")[0]), nn.BatchNorm1d):
                nn.init.uniform_(weight, -config.uniform, config.uniform)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first questions of all pairs and then the second, to logits (B,).

        With a context, hidden states (2B, T, C) replace the tokens.
        """
        states = self.encode(tokens, mask)  # (2B, T, D)
        others = exchanged(states)
        aligned = align(states, others, others, exchanged(mask))
        matched = self.match(torch.cat([states, aligned, (states - aligned) ** 2], dim=-1))  # (2B, T, H)
        scanned = last_pool(self.aggregate(matched, mask), mask)  # (2B, H)
        scores: Tensor = self.predict(scanned).squeeze(1)
        there, back = scores.chunk(2)
        return there + back

    def encode(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """`h_i`, (B, T, D), zero in the padding."""
        words = self.dropout(self.embedding(tokens)) * mask.unsqueeze(-1)
        lower = self.lower(words, mask)
        summed: Tensor = words + lower + self.upper(self.dropout(lower), mask)
        return summed


class Embedded(Protocol):
    """The part of a configuration that chooses the embedding of words."""

    @property
    def vocabulary(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def pretrained(self) -> bool: ...

    @property
    def context(self) -> Context: ...


def embedding_of(config: Embedded) -> WordEmbedding | ContextEmbedding:
    """The embedding of words in context if the configuration has one, else of words."""
    if config.context.size:
        return ContextEmbedding(config.context, config.dimension)
    return WordEmbedding(config.vocabulary, config.dimension, pretrained=config.pretrained)


class MaxOut(nn.Module):
    """`max_k (W_k x + b_k)`, unit by unit (Goodfellow et al. 2013)."""

    def __init__(self, inputs: int, outputs: int, pieces: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs * pieces)
        self.pieces = pieces

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, I) to (B, O)."""
        pieces: Tensor = self.linear(inputs).unflatten(1, (-1, self.pieces))  # (B, O, P)
        return pieces.amax(2)


def align(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """`Σ_j softmax_j(q_i · k_j) v_j`, (B, T, D); zero if the other text is empty.

    Args:
        queries: (B, T, H).
        keys: (B, S, H) of the other text, mask (B, S).
        values: (B, S, D).
    """
    scores = (queries @ keys.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), torch.finfo(queries.dtype).min)
    weights = scores.softmax(-1) * mask.unsqueeze(1)  # (B, T, S)
    return weights @ values


def exchanged(halves: Tensor) -> Tensor:
    """(2B, …) with its halves (B, …) swapped."""
    first, second = halves.chunk(2)
    return torch.cat([second, first])


def _normed(size: int, dropout: float) -> tuple[nn.Module, ...]:
    return nn.Linear(size, size), nn.BatchNorm1d(size), nn.ReLU(), nn.Dropout(dropout)
