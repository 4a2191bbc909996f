"""MP-CNN: filters of several kinds, widths and poolings, compared in groups (He et al. 2015).

Letters: N pairs, T positions, D size of a word vector, W widths of filters, F holistic filters, K filters of each
dimension, P poolings.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.poolings import max_pool, mean_pool
from rankers.compared.blocks import Score, Windows
from rankers.compared.shape import ComparedShape


class Blocks(NamedTuple):
    """The pooled filters of texts (§3)."""

    holistic: Tensor  # (N, 3, W, F) by maximum, minimum and mean: blocks A
    whole: Tensor  # (N, 3, D) of the word vectors: width ∞
    single: Tensor  # (N, 2, W, K, D) by maximum and minimum: blocks B


class MPCNN(nn.Module):
    """Horizontal and vertical comparison of blocks (§4, algorithms 1 and 2), then a hidden layer.

    Width ∞ is compared with itself alone, since its vectors have another size.
    """

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        widths, filters, single = range(1, shape.window + 1), shape.filters, shape.single
        self.holistic = nn.ModuleList(Windows(dimension, filters, width) for width in widths)
        self.single = nn.ModuleList(Windows(dimension, single, width, single=True) for width in widths)
        pairs = 3 * len(widths) ** 2
        horizontal = 2 * 3 * filters
        vertical = pairs * (2 + filters) + 3 * (2 + dimension) + 2 * len(widths) * single * (2 + dimension)
        self.score = Score(horizontal + vertical, shape.hidden, shape.dropout)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        x, y = self.blocks(first, first_mask), self.blocks(second, second_mask)
        horizontal = compare(x.holistic.transpose(2, 3), y.holistic.transpose(2, 3))  # over the widths
        vertical = compare_units(x.holistic.unsqueeze(3), y.holistic.unsqueeze(2))
        scores: Tensor = self.score(
            *horizontal, *vertical, *compare_units(x.whole, y.whole), *compare_units(x.single, y.single)
        )
        return scores

    def blocks(self, vectors: Tensor, mask: Tensor) -> Blocks:
        """Word vectors (N, T, D) and mask (N, T) to pooled filters."""
        holistic = [_pooled(windows(vectors, mask), mask) for windows in self.holistic]  # W of (N, 3, F)
        single = [_pooled(windows(vectors, mask), mask)[:, :2] for windows in self.single]  # W of (N, 2, D·K)
        stacked = torch.stack(single, dim=2)  # (N, 2, W, D·K)
        by_filter = stacked.reshape(*stacked.shape[:3], vectors.shape[2], -1).transpose(3, 4)  # (N, 2, W, K, D)
        return Blocks(torch.stack(holistic, dim=2), _pooled(vectors, mask), by_filter)


def compare(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """comU2: cosine and Euclidean distance along the last dimension."""
    return functional.cosine_similarity(x, y, dim=-1), functional.pairwise_distance(x, y)


def compare_units(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """comU1: cosine, Euclidean distance, and the absolute difference in each dimension."""
    return *compare(x, y), (x - y).abs()


def _pooled(states: Tensor, mask: Tensor) -> Tensor:
    """Maximum, minimum and mean over real words: (N, T, C) to (N, 3, C)."""
    return torch.stack([max_pool(states, mask), -max_pool(-states, mask), mean_pool(states, mask)], dim=1)
