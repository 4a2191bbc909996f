"""Poolings of token states, and the text encoders built on them.

Letters: B texts, T positions, D vector size, H hidden size of one direction, V words. Masks are (B, T), true at real
tokens; values in the padding never change a result. A text without tokens has a zero vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from qa_core.types import Side

Pooling = Callable[[Tensor, Tensor], Tensor]
"""States (B, T, D) and mask (B, T) to vectors (B, D)."""


def pad(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids of unequal length to a batch: tokens (B, T) int64 and mask (B, T) bool, T at least 1."""
    rows = [torch.tensor(text or [0], dtype=torch.int64) for text in texts]
    lengths = torch.tensor([len(text) for text in texts])
    tokens = pad_sequence(rows, batch_first=True)  # (B, T)
    return tokens, torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)


def mean_pool(states: Tensor, mask: Tensor) -> Tensor:
    """`1/T Σ_t h_t` over real tokens: (B, T, D) to (B, D)."""
    return weighted_mean_pool(states, mask, torch.ones_like(mask, dtype=states.dtype))


def weighted_mean_pool(states: Tensor, mask: Tensor, weights: Tensor) -> Tensor:
    """`Σ_t w_t h_t / Σ_t w_t` over real tokens, weights (B, T) not negative; 0 if all weights are 0."""
    weights = weights.masked_fill(~mask, 0.0)
    total = (weights.unsqueeze(1) @ states).squeeze(1)  # (B, D)
    norm = weights.sum(1, keepdim=True)  # (B, 1)
    return total / norm.where(norm > 0, 1.0)


def max_pool(states: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each dimension over real tokens: (B, T, D) to (B, D)."""
    lowest = torch.finfo(states.dtype).min
    largest = states.masked_fill(~mask.unsqueeze(-1), lowest).amax(1)  # (B, D)
    return largest.masked_fill(~mask.any(1, keepdim=True), 0.0)


def last_pool(states: Tensor, mask: Tensor) -> Tensor:
    """The state at the last real token: (B, T, D) to (B, D)."""
    positions = torch.arange(mask.shape[1], device=mask.device)
    last = positions.masked_fill(~mask, -1).amax(1)  # (B,), −1 without tokens
    picked = states[torch.arange(len(states), device=states.device), last.clamp(min=0)]
    return picked.masked_fill((last < 0).unsqueeze(-1), 0.0)


def unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1 along the last dimension; zero vectors stay zero."""
    return functional.normalize(vectors, dim=-1)


class WordEmbedding(nn.Module):
    """`E[w] = E_pre[w] + E_tune[w]`: fixed pretrained vectors plus trained ones; at least one of the two.

    E_pre is zero until `set_pretrained` or a checkpoint fills it.
    """

    E_pre: Tensor | None
    E_tune: nn.Parameter | None

    def __init__(self, vocabulary: int, dimension: int, *, pretrained: bool = False, tuned: bool = True) -> None:
        super().__init__()
        if not (pretrained or tuned):
            raise ValueError("Expected pretrained or tuned word vectors, but got neither; switch one of them on.")
        self.register_buffer("E_pre", torch.zeros(vocabulary, dimension) if pretrained else None)
        self.E_tune = nn.Parameter(torch.empty(vocabulary, dimension)) if tuned else None
        if self.E_tune is not None:
            nn.init.uniform_(self.E_tune, -0.08, 0.08)

    @property
    def table(self) -> nn.Parameter:
        """E_tune (V, D), for a softmax that shares it."""
        assert self.E_tune is not None, "no trained vectors"
        return self.E_tune

    def forward(self, tokens: Tensor) -> Tensor:
        """Ids (...) int64 to vectors (..., D)."""
        tables = [table for table in (self.E_pre, self.E_tune) if table is not None]
        return torch.stack([functional.embedding(tokens, table) for table in tables]).sum(0)

    def set_pretrained(self, vectors: Tensor) -> None:
        """Fill E_pre with vectors (V, D). Raises ValueError for another shape, or without E_pre."""
        if self.E_pre is None:
            raise ValueError("Expected an embedding with pretrained vectors, but got one without; set pretrained=True.")
        if vectors.shape != self.E_pre.shape:
            raise ValueError(
                f"Expected pretrained vectors of shape {tuple(self.E_pre.shape)} (words, dimension), "
                f"but got {tuple(vectors.shape)}; use the vectors of this vocabulary."
            )
        self.E_pre.copy_(vectors)


class MaskedLSTM(nn.Module):
    """An LSTM over real tokens only: the backward direction starts at the last token, not in the padding."""

    def __init__(
        self, input_size: int, hidden: int, *, layers: int = 1, dropout: float = 0.0, bidirectional: bool = True
    ) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(input_size, hidden, layers, batch_first=True, dropout=between, bidirectional=bidirectional)
        self.output_size = hidden * (2 if bidirectional else 1)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Inputs (B, T, D) and mask (B, T), padded on the right, to states (B, T, 2H), zero in the padding."""
        if (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ValueError(
                "Expected masks whose real tokens come first, but got padding before a token; pad on the right."
            )
        read = self._packed if inputs.is_cuda else self._unpacked
        return read(inputs, mask).masked_fill(~mask.unsqueeze(-1), 0.0)

    def _packed(self, inputs: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1).clamp(min=1)  # an empty text cannot be packed: it gets one padded step
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=inputs.shape[1])
        return states

    def _unpacked(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """The same without packing, which disables the CPU's fast kernels (twice as slow in batches of 20 texts).

        The forward direction reads the padding last; for the backward direction each text is reversed in place.
        """
        positions, lengths = torch.arange(mask.shape[1]), mask.sum(1, keepdim=True)  # (T,), (B, 1)
        reverse = torch.where(positions < lengths, lengths - 1 - positions, positions).unsqueeze(-1)  # (B, T, 1)
        directions = 1 + self.lstm.bidirectional
        states = inputs
        for layer in range(self.lstm.num_layers):
            weights = self.lstm.all_weights[layer * directions : (layer + 1) * directions]
            if layer:
                states = functional.dropout(states, self.lstm.dropout, self.training)
            read = [_one_direction(states, weights[0])]
            if self.lstm.bidirectional:
                read.append(_reordered(_one_direction(_reordered(states, reverse), weights[1]), reverse))
            states = torch.cat(read, dim=-1)
        return states


def _one_direction(inputs: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """States (B, T, H) of a layer that reads inputs (B, T, D) from left to right."""
    zeros = inputs.new_zeros(1, len(inputs), weights[1].shape[1])
    states: Tensor = torch.lstm(
        inputs, (zeros, zeros), list(weights), True, 1, 0.0, torch.is_grad_enabled(), False, True
    )[0]
    return states


def _reordered(states: Tensor, order: Tensor) -> Tensor:
    """The states (B, T, D) of each text in the order of positions (B, T, 1)."""
    return states.gather(1, order.expand_as(states))


@dataclass(frozen=True, slots=True)
class MeanConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # D
    pretrained: bool = False  # E_pre beside E_tune
    tuned: bool = True  # E_tune
    normalised: bool = True  # vectors of length 1


class MeanEncoder(nn.Module):
    """The mean of word vectors."""

    def __init__(self, config: MeanConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = WordEmbedding(
            config.vocabulary, config.dimension, pretrained=config.pretrained, tuned=config.tuned
        )

    def forward(self, tokens: Tensor, mask: Tensor, *, side: Side = "question") -> Tensor:  # noqa: ARG002 one call for all encoders
        """Tokens (B, T) int64 and mask (B, T) to vectors (B, D)."""
        vectors = mean_pool(self.embedding(tokens), mask)
        return unit(vectors) if self.config.normalised else vectors


@dataclass(frozen=True, slots=True)
class BiLSTMConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # of word vectors
    hidden: int = 500  # H, of each direction
    layers: int = 1
    output: int = 1000  # D
    dropout: float = 0.2  # between the fully connected layers and between LSTM layers
    pretrained: bool = False  # E_pre beside E_tune
    tuned: bool = True  # E_tune
    typed: bool = False  # a binary feature at every step: 0 in questions, 1 in answers
    uniform: float = 0.08  # initial weights are drawn from ± this
    normalised: bool = True  # vectors of length 1


class BiLSTMEncoder(nn.Module):
    """BiLSTM, pooling over time, and two fully connected layers."""

    def __init__(self, config: BiLSTMConfig, *, pool: Pooling = max_pool) -> None:
        super().__init__()
        self.config = config
        self.pool = pool
        self.embedding = WordEmbedding(
            config.vocabulary, config.dimension, pretrained=config.pretrained, tuned=config.tuned
        )
        self.lstm = MaskedLSTM(
            config.dimension + config.typed, config.hidden, layers=config.layers, dropout=config.dropout
        )
        self.head = nn.Sequential(
            nn.Linear(self.lstm.output_size, config.output),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.output, config.output),
        )
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.uniform, config.uniform)

    def forward(self, tokens: Tensor, mask: Tensor, *, side: Side = "question") -> Tensor:
        """Tokens (B, T) int64 and mask (B, T), all texts of one side, to vectors (B, D)."""
        inputs = self.embedding(tokens)  # (B, T, dimension)
        if self.config.typed:
            inputs = functional.pad(inputs, (0, 1), value=float(side == "answer"))
        vectors: Tensor = self.head(self.pool(self.lstm(inputs, mask), mask))
        vectors = vectors.masked_fill(~mask.any(1, keepdim=True), 0.0)
        return unit(vectors) if self.config.normalised else vectors
