"""Losses of groups: whether each passage answers, and which one of a group does.

Letters: `x` are the logits (B,) of the pairs of a batch, `y` their labels, `g` the groups.
"""

from __future__ import annotations

import torch
from torch import Tensor

from qa_core.networks.losses import pairwise_cross_entropy

LARGEST = 15.0
"""Logits are cut to this in the softmax of a group."""
LISTWISE = 0.5
"""Weight of the second loss."""


def relevance_loss(logits: Tensor, labels: Tensor, owners: Tensor) -> Tensor:
    """The weighted sum of both losses; all (B,)."""
    return pairwise_cross_entropy(logits, labels) + LISTWISE * listwise(logits, labels, owners)


def listwise(logits: Tensor, labels: Tensor, owners: Tensor) -> Tensor:
    """Mean of `−log(exp x_i / Σ_{g_j = g_i} exp x_j)` over right passages `i`; 0 without any.

    Args:
        owners: the group of each pair (B,), counted from 0.
    """
    cut = logits.clamp(-LARGEST, LARGEST)
    sums = torch.zeros(int(owners.max()) + 1, dtype=cut.dtype, device=cut.device).index_add(0, owners, cut.exp())
    errors = sums.log()[owners] - cut
    return (errors * labels).sum() / labels.sum().clamp(min=1)
