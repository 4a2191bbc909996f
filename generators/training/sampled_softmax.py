"""The softmax over some of the words, for training where all of them cost too much (after Jean et al. 2015, ACL).

Words are numbered by frequency: the first ones always count, the others are told by a sample, drawn anew for each
batch and weighted so that the sum of the softmax is right on average.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

HEAD = 1_000
"""Words that always count."""


def tail_sample(words: int, count: int, *, head: int = HEAD) -> Tensor:
    """`count` numbers of words behind the first `head` of all `words`, each at most once, by torch's own generator."""
    return torch.randperm(words - head)[:count] + head


def sampled_loss(
    z: Tensor, weight: Tensor, bias: Tensor, target: Tensor, sample: Tensor, *, head: int = HEAD
) -> Tensor:
    """The mean of `−log p(y)`, the sum of its softmax estimated by the first words, the sample and y itself.

    Args:
        z: what the softmax takes, (N, D).
        weight: (V, D).
        bias: (V,).
        target: y, (N,).
        sample: numbers of distinct words behind the first `head`, (S,).
    """
    told = torch.cat([torch.arange(head, device=z.device), sample])
    logits = torch.addmm(bias[told], z, weight[told].t())  # (N, head + S)
    own = (z * weight[target]).sum(1) + bias[target]  # (N,)
    correction = torch.zeros(len(told), device=z.device)
    correction[head:] = math.log((len(bias) - head) / max(1, len(sample)))
    rare = target >= head
    twice = rare.unsqueeze(1) & (target.unsqueeze(1) == told)  # a sampled word is no rival of itself
    logits = (logits + correction).masked_fill(twice, -torch.inf)
    also = own.masked_fill(~rare, -torch.inf).unsqueeze(1)  # the first words stand among the logits
    return (torch.cat([logits, also], dim=1).logsumexp(1) - own).mean()
