"""Networks that encode both texts and match the two vectors: LSTM, NTN-LSTM and CNTN.

Letters: N pairs, T positions, D size of a word vector, F filters, C size of a text's vector, r slices of the tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qa_core.networks.poolings import MaskedLSTM, last_pool
from rankers.compared.blocks import Score, Windows
from rankers.compared.shape import ComparedShape

_TOP = 3
"""Largest values of a filter that are kept, in the order of the text."""


class NeuralTensor(nn.Module):
    """`uᵀ tanh(qᵀ M^{[1:r]} a + V [q; a] + b)` (Qiu and Huang 2015, §4)."""

    def __init__(self, size: int, slices: int) -> None:
        super().__init__()
        self.M = nn.Bilinear(size, size, slices)  # its bias is b
        self.V = nn.Linear(2 * size, slices, bias=False)
        self.u = nn.Linear(slices, 1, bias=False)

    def forward(self, q: Tensor, a: Tensor) -> Tensor:
        """Vectors (N, C) of questions and answers to scores (N,)."""
        scores: Tensor = self.u(torch.tanh(self.M(q, a) + self.V(torch.cat([q, a], dim=1)))).squeeze(1)
        return scores


class LSTM(nn.Module):
    """The last states of one LSTM, concatenated, and a hidden layer (the baseline of Tay et al. 2018, table 3)."""

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        self.lstm = MaskedLSTM(dimension, shape.hidden, bidirectional=False)
        self.score = Score(2 * shape.hidden, shape.hidden, shape.dropout)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        q = last_pool(self.lstm(first, first_mask), first_mask)  # (N, H)
        scores: Tensor = self.score(q, last_pool(self.lstm(second, second_mask), second_mask))
        return scores


class TensorLSTM(nn.Module):
    """NTN-LSTM: the last states of one LSTM, matched by a neural tensor (Tay et al. 2017)."""

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        self.lstm = MaskedLSTM(dimension, shape.hidden, bidirectional=False)
        self.score = NeuralTensor(shape.hidden, shape.slices)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        q = last_pool(self.lstm(first, first_mask), first_mask)  # (N, H)
        scores: Tensor = self.score(q, last_pool(self.lstm(second, second_mask), second_mask))
        return scores


class CNTN(nn.Module):
    """Convolutional neural tensor network: filters, k-max pooling and a dense layer, matched by a neural tensor.

    Qiu and Huang (2015), §3 and §4, with one layer of convolution.
    """

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        self.windows = Windows(dimension, shape.filters, shape.window)
        self.dense = nn.Linear(_TOP * shape.filters, shape.hidden)
        self.score = NeuralTensor(shape.hidden, shape.slices)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        scores: Tensor = self.score(self.encode(first, first_mask), self.encode(second, second_mask))
        return scores

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Word vectors (N, T, D) and mask (N, T) to (N, C)."""
        largest = k_max_pool(self.windows(vectors, mask), mask, _TOP)  # (N, k, F)
        return torch.tanh(self.dense(largest.flatten(1)))


def k_max_pool(states: Tensor, mask: Tensor, k: int) -> Tensor:
    """The k largest values of each dimension over real words, in their order: (N, T, F) to (N, k, F).

    Zeros follow the values of a text of fewer than k words.
    """
    missing = max(0, k - states.shape[1])
    states = nn.functional.pad(states, (0, 0, 0, missing))
    real = nn.functional.pad(mask, (0, missing)).unsqueeze(-1)  # (N, T, 1)
    lowest = torch.finfo(states.dtype).min
    positions = states.masked_fill(~real, lowest).topk(k, dim=1).indices
    last = torch.full_like(positions, states.shape[1])  # padding comes after all words
    ordered = torch.where(real.expand_as(states).gather(1, positions), positions, last).sort(dim=1).values
    padded = nn.functional.pad(states, (0, 0, 0, 1))  # a row of zeros for the padding
    return padded.gather(1, ordered)
