"""Global attention (Luong et al. 2015, Effective approaches to attention-based neural machine translation).

Letters: B texts, Q queries (decoder steps), T positions, D state size. Masks are true at real tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def dot_scores(queries: Tensor, states: Tensor) -> Tensor:
    """`e_ti = h'_tᵀ h_i` (§3.1, dot): (B, Q, D) and (B, T, D) to (B, Q, T)."""
    return queries @ states.transpose(1, 2)


def general_scores(queries: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    """`e_ti = h'_tᵀ W_a h_i` (§3.1, general): (B, Q, D'), (B, T, D) and W_a (D', D) to (B, Q, T)."""
    return dot_scores(queries @ W_a, states)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last dimension where `mask` is true, 0 elsewhere; all 0 in a row without true cells."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1) * mask


def attend(scores: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Contexts `c_t = Σ_i α_ti h_i` with `α = softmax(e)`, and the weights α.

    Args:
        scores: e, (B, Q, T).
        states: h, (B, T, D).
        mask: (B, T), true at real tokens; the context of a text without tokens is 0.

    Returns:
        Contexts (B, Q, D) and weights (B, Q, T).
    """
    weights = masked_softmax(scores, mask.unsqueeze(1))  # (B, Q, T)
    return weights @ states, weights


class GlobalAttention(nn.Module):
    """`z_t = tanh(W_c [c_t; h'_t])` (eq. 5) with general scores."""

    def __init__(self, query_size: int, state_size: int, *, output_size: int | None = None) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(query_size, state_size))
        nn.init.xavier_uniform_(self.W_a)
        self.W_c = nn.Linear(state_size + query_size, output_size or query_size, bias=False)

    def forward(self, queries: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Queries h' (B, Q, D'), states h (B, T, D), mask (B, T) to z (B, Q, D_z) and weights α (B, Q, T)."""
        contexts, weights = attend(general_scores(queries, states, self.W_a), states, mask)
        return torch.tanh(self.W_c(torch.cat([contexts, queries], dim=-1))), weights
