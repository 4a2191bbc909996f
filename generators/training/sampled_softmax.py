"""A softmax over a sample of the words, for training with large vocabularies (after Jean et al. 2015, ACL).

Words are numbered by frequency: the first ones always count; a sample, drawn anew for each batch, represents the
others, weighted so that the sum of the softmax is right on average.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

HEAD = 1_000
"""Words that always count."""


def tail_sample(words: int, count: int, *, head: int = HEAD) -> Tensor:
    """`count` distinct word numbers after the first `head` of all `words`, drawn by torch's global generator."""
    return torch.randperm(words - head)[:count] + head


def sampled_loss(
    z: Tensor, weight: Tensor, bias: Tensor, target: Tensor, sample: Tensor, *, head: int = HEAD
) -> Tensor:
    """The mean of `−log p(y)`; the first words, the sample and y itself estimate the sum of the softmax.

    Args:
        z: inputs of the softmax, (N, D).
        weight: (V, D).
        bias: (V,).
        target: y, (N,).
        sample: numbers of distinct words after the first `head`, (S,).
    """
    words = torch.cat([torch.arange(head, device=z.device), sample])
    logits = torch.addmm(bias[words], z, weight[words].t())  # (N, head + S)
    true = (z * weight[target]).sum(1) + bias[target]  # (N,)
    correction = torch.zeros(len(words), device=z.device)
    correction[head:] = math.log((len(bias) - head) / max(1, len(sample)))
    rare = target >= head
    twice = rare.unsqueeze(1) & (target.unsqueeze(1) == words)  # the true word must not count twice
    logits = (logits + correction).masked_fill(twice, -torch.inf)
    also = true.masked_fill(~rare, -torch.inf).unsqueeze(1)  # the first words are among the logits
    return (torch.cat([logits, also], dim=1).logsumexp(1) - true).mean()
