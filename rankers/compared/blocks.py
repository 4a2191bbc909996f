"""Blocks of several compared networks.

Letters: N texts, T positions, D size of a word vector, F filters. Masks are (N, T), true at real words.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Windows(nn.Module):
    """`tanh(W [x_{t−w+1}; …; x_t] + b)`: a convolution whose position t reads its word and the w − 1 words before.

    With `single`, each dimension has separate filters; the channels are in the order of the dimensions.
    """

    def __init__(self, dimension: int, filters: int, width: int, *, single: bool = False) -> None:
        super().__init__()
        groups = dimension if single else 1
        self.before = width - 1
        self.convolution = nn.Conv1d(dimension, filters * groups, width, groups=groups)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(N, T, D) to (N, T, F), zero in the padding."""
        real = mask.unsqueeze(-1)
        padded = functional.pad((vectors * real).transpose(1, 2), (self.before, 0))  # zeros before the first word
        states: Tensor = self.convolution(padded).transpose(1, 2).tanh() * real
        return states


class Score(nn.Module):
    """`wᵀ tanh(W f + b) + c` of features f, with dropout before the last layer."""

    def __init__(self, features: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(hidden, 1))

    def forward(self, *features: Tensor) -> Tensor:
        """Features (N, …), flattened and concatenated, to scores (N,)."""
        scores: Tensor = self.layers(torch.cat([feature.flatten(1) for feature in features], dim=1)).squeeze(1)
        return scores
