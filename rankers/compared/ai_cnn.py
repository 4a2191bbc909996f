"""AI-CNN: attentive pooling by a tensor of interactions, several for each pair of windows (Zhang et al. 2017).

Tay et al. (2018, §2) describe it as attentive pooling in three dimensions. The interaction is that of attentive
pooling, r times: `T_ijk = tanh(q_iᵀ U_k a_j)`. The largest interactions `t_i = max_j T_ij` of each window weight the
windows: `Σ_i softmax_i(w · t_i) [q_i; t_i]`, and so for the answer.

Letters: N pairs, T and S positions, F filters, r slices of the tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qa_core.networks.attention import masked_softmax
from qa_core.networks.poolings import max_pool
from rankers.compared.blocks import Score, Windows
from rankers.compared.shape import ComparedShape


class AICNN(nn.Module):
    """Windows of both texts, the tensor of their interactions, and a hidden layer over both weighted sums."""

    def __init__(self, dimension: int, shape: ComparedShape) -> None:
        super().__init__()
        filters, slices = shape.filters, shape.slices
        self.windows = Windows(dimension, filters, shape.window)
        self.U = nn.Parameter(torch.empty(slices, filters, filters))
        for weight in self.U:
            nn.init.xavier_uniform_(weight)
        self.importance = nn.ModuleList(nn.Linear(slices, 1, bias=False) for _ in range(2))  # of each text
        self.score = Score(2 * (filters + slices), shape.hidden, shape.dropout)

    def forward(self, first: Tensor, first_mask: Tensor, second: Tensor, second_mask: Tensor) -> Tensor:
        """See `rankers.compared.networks`."""
        q, a = self.windows(first, first_mask), self.windows(second, second_mask)  # (N, T, F), (N, S, F)
        tensor = torch.tanh(q.unsqueeze(1) @ self.U @ a.unsqueeze(1).transpose(2, 3))  # (N, r, T, S)
        of_questions, of_answers = tensor.permute(0, 2, 3, 1), tensor.permute(0, 3, 2, 1)
        sides = ((q, of_questions, first_mask, second_mask), (a, of_answers, second_mask, first_mask))
        pooled = [_pooled(*side, weights) for side, weights in zip(sides, self.importance, strict=True)]
        scores: Tensor = self.score(*pooled)
        return scores


def _pooled(states: Tensor, interactions: Tensor, mask: Tensor, other: Tensor, importance: nn.Module) -> Tensor:
    """States (N, T, F) and interactions (N, T, S, r) with the masks (N, T) and (N, S) to vectors (N, F + r)."""
    pairs, positions = interactions.shape[:2]
    others = other.unsqueeze(1).expand(-1, positions, -1)  # (N, T, S)
    largest = max_pool(interactions.flatten(0, 1), others.flatten(0, 1)).view(pairs, positions, -1)  # (N, T, r)
    weights = masked_softmax(importance(largest).squeeze(2), mask)  # (N, T)
    return (weights.unsqueeze(1) @ torch.cat([states, largest], dim=2)).squeeze(1)
