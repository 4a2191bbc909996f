"""Losses of groups: whether each passage answers, which one of a group does, and what the teacher thinks of it.

Letters: `x` are the logits (B,) of the pairs of a batch, `y` their labels, `t` the teacher's logits, `g` the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from qa_core.networks.losses import pairwise_cross_entropy

LARGEST = 15.0
"""Logits are cut to this in the softmax of a group."""


@dataclass(frozen=True, slots=True)
class LossWeights:
    binary: float
    listwise: float
    teacher: float = 0.0


def relevance_loss(
    logits: Tensor, labels: Tensor, owners: Tensor, targets: Tensor | None, weights: LossWeights
) -> Tensor:
    """The weighted sum of the losses; without the teacher's if there are no targets. All (B,)."""
    loss = weights.binary * pairwise_cross_entropy(logits, labels)
    loss = loss + weights.listwise * listwise(logits, labels, owners)
    return loss if targets is None else loss + weights.teacher * teacher_error(logits, targets)


def listwise(logits: Tensor, labels: Tensor, owners: Tensor) -> Tensor:
    """Mean of `−log(exp x_i / Σ_{g_j = g_i} exp x_j)` over right passages `i`; 0 without any.

    Args:
        owners: the group of each pair (B,), counted from 0.
    """
    cut = logits.clamp(-LARGEST, LARGEST)
    sums = torch.zeros(int(owners.max()) + 1, dtype=cut.dtype, device=cut.device).index_add(0, owners, cut.exp())
    errors = sums.log()[owners] - cut
    return (errors * labels).sum() / labels.sum().clamp(min=1)


def teacher_error(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean of `(x_i − t_i)²` over pairs that the teacher has read; 0 without any. A target NaN is unknown."""
    is_known = ~targets.isnan()
    errors = (logits - targets.nan_to_num()) ** 2
    return (errors * is_known).sum() / is_known.sum().clamp(min=1)
