"""Losses over a matrix of scores of questions against the answers of their batch.

Letters: `r` are scores (N, M) of N questions (rows) and M answers (columns). Answer `i` belongs to question `i`;
columns after the N-th are further wrong answers. `allowed` (N, M) is true where an answer may be a negative; its values
at positives have no effect. All losses are means over the N questions (or over the cells that the formula names).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

SCALE, MARGIN, FILTER = 40.0, 0.1, 0.05


def slam_softmax(
    r: Tensor,
    *,
    allowed: Tensor | None = None,
    scale: float = SCALE,
    margin: float = MARGIN,
    filter_margin: float = FILTER,
) -> Tensor:
    """`L = L_q→a + L_a→q`: softmax with an additive margin and a self-learning filter (Wang 2018, ch. 3).

    `L_q→a = −1/N Σ_i log(e^{sψ_i} / (e^{sψ_i} + Σ_{j ∈ T_i} e^{s r_ij}))`, `ψ_i = r_ii − m_a`. `T_i` are the negatives
    with `r_ij ≤ r_ii + m_s`: one that scores higher is taken for an unlabelled right answer. The filter has no
    gradient. `L_a→q` is the same on the transposed first N columns.

    Args:
        scale: `s`.
        margin: `m_a`.
        filter_margin: `m_s`; infinity turns the filter off.
    """
    forward = _slam_rows(r, allowed, scale, margin, filter_margin)
    square, square_allowed = r[:, : len(r)], None if allowed is None else allowed[:, : len(r)].T  # (N, N)
    return forward + _slam_rows(square.T, square_allowed, scale, margin, filter_margin)


def _slam_rows(r: Tensor, allowed: Tensor | None, scale: float, margin: float, filter_margin: float) -> Tensor:
    positive = _positive(r)
    taken_for_right = r.detach() > r.detach().diagonal().unsqueeze(1) + filter_margin  # (N, M)
    dropped = taken_for_right if allowed is None else taken_for_right | ~allowed
    logits = scale * (r - margin * positive.to(r.dtype))
    return _first_in_row(logits.masked_fill(dropped & ~positive, -torch.inf))


def sampled_softmax(r: Tensor, *, allowed: Tensor | None = None, negatives: int = 20, scale: float = SCALE) -> Tensor:
    """`−1/N Σ_i log(e^{s r_ii} / (e^{s r_ii} + Σ_{j ∈ T_i} e^{s r_ij}))` with k negatives `T_i` of the batch.

    `T_i` are the k columns after `i`, cyclically: a random sample if the batch is shuffled.
    """
    width = r.shape[1]
    offsets = torch.arange(width, device=r.device) - torch.arange(len(r), device=r.device).unsqueeze(1)  # (N, M)
    sampled = offsets % width <= negatives
    allowed = sampled if allowed is None else sampled & allowed
    return _first_in_row((scale * r).masked_fill(~(allowed | _positive(r)), -torch.inf))


def in_batch_softmax(r: Tensor, *, allowed: Tensor | None = None) -> Tensor:
    """`−1/N Σ_i log(e^{r_ii} / Σ_j e^{r_ij})`: in-batch sampled softmax (Gillick et al. 2018, loss b)."""
    return _first_in_row(r if allowed is None else r.masked_fill(~(allowed | _positive(r)), -torch.inf))


def in_batch_cross_entropy(r: Tensor, *, allowed: Tensor | None = None) -> Tensor:
    """Mean over cells of `−log σ(r_ii)` and `−log(1 − σ(r_ij))`, `j ≠ i` (Gillick et al. 2018, loss a)."""
    positive = _positive(r)
    cells = functional.binary_cross_entropy_with_logits(r, positive.to(r.dtype), reduction="none")  # (N, M)
    return cells.mean() if allowed is None else cells[allowed | positive].mean()


def triplet(
    r: Tensor, *, allowed: Tensor | None = None, margin: float = 0.5, negative: Literal["hardest", "one"] = "hardest"
) -> Tensor:
    """`1/N Σ_i max(0, δ − r_ii + r_ij)` with one negative `j` of each question, 0 for a question without one.

    Args:
        margin: δ.
        negative: the hardest of the batch (Gillick et al. 2018, loss c), or the first allowed column after `i`,
            cyclically, which is a random one if the batch is shuffled (Wang 2018, table 3.1).
    """
    positive = _positive(r)
    excluded = positive if allowed is None else positive | ~allowed
    if negative == "one":
        excluded = excluded | ~_first_after(~excluded)
    worst = r.masked_fill(excluded, -torch.inf).amax(1)  # (N,), −∞ without a negative
    return functional.relu(margin - r.diagonal() + worst).mean()


def _first_after(allowed: Tensor) -> Tensor:
    """(N, M), true for the first allowed column of each row after the diagonal, cyclically; else false."""
    width = allowed.shape[1]
    columns, rows = torch.arange(width, device=allowed.device), torch.arange(len(allowed), device=allowed.device)
    steps = (columns - rows.unsqueeze(1) - 1) % width  # (N, M), 0 for the next column
    first = steps.masked_fill(~allowed, width).argmin(1)  # (N,)
    return functional.one_hot(first, width).bool() & allowed


def pairwise_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """`−1/N Σ_i (y_i log σ(x_i) + (1 − y_i) log(1 − σ(x_i)))` of logits and labels, both (N,) (ibid., loss d)."""
    return functional.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))


class Affine(nn.Module):
    """`α · cos + β`, both learned: turns cosines into logits (Gillick et al. 2018, §3)."""

    def __init__(self, *, alpha: float = 1.0, beta: float = 0.0) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(alpha))
        self.beta = nn.Parameter(torch.tensor(beta))

    def forward(self, cosines: Tensor) -> Tensor:
        logits: Tensor = self.alpha * cosines + self.beta
        return logits


def _positive(r: Tensor) -> Tensor:
    """(N, M), true for the right answer of each question."""
    if r.ndim != 2 or r.shape[1] < len(r) or not len(r):
        raise ValueError(
            f"Expected scores (N, M) with M ≥ N ≥ 1, a column for the right answer of each question, but got "
            f"{tuple(r.shape)}; score questions against all answers of the batch."
        )
    return torch.eye(*r.shape, dtype=torch.bool, device=r.device)


def _first_in_row(logits: Tensor) -> Tensor:
    """Cross-entropy of the diagonal within each row; columns of −∞ have no effect."""
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))
