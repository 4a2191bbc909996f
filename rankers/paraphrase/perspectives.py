"""Cosines of two vectors from several perspectives (Wang et al. 2017, "Bilateral multi-perspective matching", §3.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

LEAST = 1e-6
"""Of squared lengths, so that the cosine of a zero vector is 0 and has a gradient."""


class Perspectives(nn.Module):
    """`m_k = cos(W_k ∘ u, W_k ∘ v)` for k of l (eq. 3 and 4), by the squares of `W`."""

    def __init__(self, size: int, count: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.empty(count, size))  # W, (l, D)
        nn.init.uniform_(self.weights, 0.0, 1.0)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Vectors (..., D), one shape or broadcast, to cosines (..., l)."""
        return ((first * second) @ self._squares) / (self._lengths(first) * self._lengths(second))

    def all_pairs(self, first: Tensor, second: Tensor) -> Tensor:
        """Vectors (B, T, D) and (B, S, D) to cosines (B, T, S, l)."""
        weighted = first.unsqueeze(1) * self.weights.square()[:, None]  # (B, l, T, D)
        products = (weighted @ second.unsqueeze(1).transpose(2, 3)).permute(0, 2, 3, 1)
        return products / (self._lengths(first).unsqueeze(2) * self._lengths(second).unsqueeze(1))

    @property
    def _squares(self) -> Tensor:
        return self.weights.square().T  # (D, l)

    def _lengths(self, vectors: Tensor) -> Tensor:
        return (vectors.square() @ self._squares + LEAST).sqrt()
