"""Losses over scores of questions against answers.

Letters: `r` is a matrix of scores (N, M), a row a question, a column an answer; answer `i` belongs to question `i` and
columns behind the N-th, where there are any, are further wrong answers. `kept` (N, M) is true where an answer may
serve as a negative; nobody has to leave the positives out of it. All losses are means over the N questions (or over
what their formula names) and turn round no sign: less is better.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

SCALE, MARGIN, FILTER = 40.0, 0.1, 0.05


def slam_softmax(
    r: Tensor,
    *,
    kept: Tensor | None = None,
    scale: float = SCALE,
    margin: float = MARGIN,
    filter_margin: float = FILTER,
) -> Tensor:
    """`L = L_q→a + L_a→q`: softmax with an additive margin and a self-learning filter (thesis, ch. 3).

    `L_q→a = −1/N Σ_i log(e^{sψ_i} / (e^{sψ_i} + Σ_{j ∈ T_i} e^{s r_ij}))`, `ψ_i = r_ii − m_a`. `T_i` are the negatives
    with `r_ij ≤ r_ii + m_s`: one that scores higher is taken for a right answer nobody marked. The filter is a
    decision and has no gradient. `L_a→q` is the same on the transposed first N columns.

    Args:
        scale: `s`.
        margin: `m_a`.
        filter_margin: `m_s`; infinity turns the filter off.
    """
    there = _slam_rows(r, kept, scale, margin, filter_margin)
    own, own_kept = r[:, : len(r)], None if kept is None else kept[:, : len(r)].T  # (N, N)
    return there + _slam_rows(own.T, own_kept, scale, margin, filter_margin)


def _slam_rows(r: Tensor, kept: Tensor | None, scale: float, margin: float, filter_margin: float) -> Tensor:
    positive = _positive(r)
    taken_for_right = r.detach() > r.detach().diagonal().unsqueeze(1) + filter_margin  # (N, M)
    dropped = taken_for_right if kept is None else taken_for_right | ~kept
    logits = scale * (r - margin * positive.to(r.dtype))
    return _first_in_row(logits.masked_fill(dropped & ~positive, -torch.inf))


def sampled_softmax(r: Tensor, *, kept: Tensor | None = None, negatives: int = 20, scale: float = SCALE) -> Tensor:
    """`−1/N Σ_i log(e^{s r_ii} / (e^{s r_ii} + Σ_{j ∈ T_i} e^{s r_ij}))` with k negatives `T_i` of the batch.

    `T_i` are the k columns behind `i`, cyclically: a random sample where the batch is shuffled.
    """
    width = r.shape[1]
    places = torch.arange(width, device=r.device) - torch.arange(len(r), device=r.device).unsqueeze(1)  # (N, M)
    sampled = places % width <= negatives
    kept = sampled if kept is None else sampled & kept
    return _first_in_row((scale * r).masked_fill(~(kept | _positive(r)), -torch.inf))


def in_batch_softmax(r: Tensor, *, kept: Tensor | None = None) -> Tensor:
    """`−1/N Σ_i log(e^{r_ii} / Σ_j e^{r_ij})`: in-batch sampled softmax (Gillick et al. 2018, loss b)."""
    return _first_in_row(r if kept is None else r.masked_fill(~(kept | _positive(r)), -torch.inf))


def in_batch_cross_entropy(r: Tensor, *, kept: Tensor | None = None) -> Tensor:
    """Mean over cells of `−log σ(r_ii)` and `−log(1 − σ(r_ij))`, `j ≠ i` (Gillick et al. 2018, loss a)."""
    positive = _positive(r)
    cells = functional.binary_cross_entropy_with_logits(r, positive.to(r.dtype), reduction="none")  # (N, M)
    return cells.mean() if kept is None else cells[kept | positive].mean()


def triplet(r: Tensor, *, kept: Tensor | None = None, margin: float = 0.5) -> Tensor:
    """`1/N Σ_i max(0, δ − r_ii + max_{j ≠ i} r_ij)`: each question's hardest negative (Gillick et al. 2018, loss c)."""
    positive = _positive(r)
    wrong = positive if kept is None else positive | ~kept
    hardest = r.masked_fill(wrong, -torch.inf).amax(1)  # (N,), −∞ without a negative
    return functional.relu(margin - r.diagonal() + hardest).mean()


def pairwise_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """`−1/N Σ_i (y_i log σ(x_i) + (1 − y_i) log(1 − σ(x_i)))` of logits and labels, both (N,) (ibid., loss d)."""
    return functional.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))


class Affine(nn.Module):
    """`α · cos + β`, both learned: what makes cosines logits (Gillick et al. 2018, §3)."""

    def __init__(self, *, alpha: float = 1.0, beta: float = 0.0) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(alpha))
        self.beta = nn.Parameter(torch.tensor(beta))

    def forward(self, cosines: Tensor) -> Tensor:
        logits: Tensor = self.alpha * cosines + self.beta
        return logits


def _positive(r: Tensor) -> Tensor:
    """(N, M), true where a question meets its own answer."""
    if r.ndim != 2 or r.shape[1] < len(r) or not len(r):
        raise ValueError(
            f"Expected scores (N, M) with M ≥ N ≥ 1, a column for each question's own answer, but got "
            f"{tuple(r.shape)}; score questions against all answers of the batch."
        )
    return torch.eye(*r.shape, dtype=torch.bool, device=r.device)


def _first_in_row(logits: Tensor) -> Tensor:
    """Cross-entropy of the diagonal among each row; columns of −∞ do not count."""
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))
