"""ARC-I and ARC-II: convolutions and poolings by two over each text, or over all pairs of windows (Hu et al. 2014).

The last feature maps are pooled to their maximum, so that texts of any length have features of one size.

Letters: N pairs, T and S positions, D size of a word vector, F filters.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankers.compared.blocks import Score
from rankers.compared.shape import ComparedShape


class ArcI(nn.Module):
    """Both texts by two layers of convolution and pooling, and a hidden layer over both vectors (§3.1)."""

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        filters = shape.filters
        self.lower, self.upper = (nn.Conv1d(size, filters, 3, padding=1) for size in (dimension, filters))
        self.score = Score(2 * filters, shape.hidden, shape.dropout)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        scores: Tensor = self.score(self.encode(first, first_mask), self.encode(second, second_mask))
        return scores

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Word vectors (N, T, D) and mask (N, T) to (N, F); the gate of the paper is the mask."""
        maps, gate = (vectors * mask.unsqueeze(-1)).transpose(1, 2), mask.unsqueeze(1)  # (N, D, T), (N, 1, T)
        for layer in (self.lower, self.upper):
            maps = functional.relu(layer(maps)) * gate
            maps, gate = (functional.max_pool1d(x, 2, ceil_mode=True) for x in (maps, gate.to(maps.dtype)))
        return maps.amax(2)


class ArcII(nn.Module):
    """Convolution over all pairs of windows, then over the grid of their maps, and a hidden layer (§3.2)."""

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        filters = shape.filters
        self.first, self.second = (nn.Conv1d(dimension, filters, 3, padding=1, bias=bias) for bias in (True, False))
        self.upper = nn.Conv2d(filters, filters, 3, padding=1)
        self.score = Score(filters, shape.hidden, shape.dropout)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        x, y = (first * first_mask.unsqueeze(-1)).mT, (second * second_mask.unsqueeze(-1)).mT  # (N, D, T), (N, D, S)
        gate = (first_mask.unsqueeze(2) & second_mask.unsqueeze(1)).unsqueeze(1).to(x.dtype)  # (N, 1, T, S)
        maps = functional.relu(self.first(x).unsqueeze(3) + self.second(y).unsqueeze(2)) * gate  # (N, F, T, S)
        maps, gate = (functional.max_pool2d(x, 2, ceil_mode=True) for x in (maps, gate))
        maps = functional.relu(self.upper(maps)) * gate
        scores: Tensor = self.score(torch.amax(maps, dim=(2, 3)))
        return scores
