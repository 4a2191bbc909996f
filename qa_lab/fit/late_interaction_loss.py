"""Losses of the shipped transformer: sentence vectors like the teacher's, and token vectors that tell an answer.

Letters: `q` (N, D) are unit vectors of N questions, `p` (M, D) of M passages; the passage of question `i` is `i`.
`t` (N, M) are the teacher's cosines. `soft` (N, M) is the soft minimum of late interaction.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

SHARPNESS = 8.0


class QuestionWords(NamedTuple):
    """Content words: `pieces` (N, W, T) averages the tokens of each word, `weights` (N, W) is 0 at padding."""

    pieces: Tensor
    weights: Tensor


def contrastive(cosines: Tensor, teacher: Tensor, *, scale: float, margin: float) -> Tensor:
    """`−1/N Σ_i log softmax_j(s r_ij)_i` over the negatives that the teacher places `margin` below the positive.

    Args:
        cosines: `r` (N, M).
        teacher: `t` (N, M); a passage that the teacher finds nearly as good may be an answer too.
    """
    positive = torch.eye(*cosines.shape, dtype=torch.bool)
    allowed = teacher < teacher.diagonal().unsqueeze(1) - margin
    logits = (scale * cosines).masked_fill(~(allowed | positive), -torch.inf)
    return functional.cross_entropy(logits, torch.arange(len(cosines)))


def distillation(cosines: Tensor, teacher: Tensor, *, scale: float) -> Tensor:
    """`1/N Σ_i KL(softmax(s t_i) ‖ softmax(s r_i))`: each row of cosines like the teacher's (Hinton et al. 2015)."""
    targets = functional.log_softmax(scale * teacher, dim=1)
    return functional.kl_div(
        functional.log_softmax(scale * cosines, dim=1), targets, log_target=True, reduction="batchmean"
    )


def margin_error(cosines: Tensor, teacher: Tensor) -> Tensor:
    """Mean squared difference of the margins `r_ii − r_ij` and `t_ii − t_ij` (Hofstätter et al. 2020, MarginMSE)."""
    margins = cosines.diagonal().unsqueeze(1) - cosines
    return functional.mse_loss(margins, teacher.diagonal().unsqueeze(1) - teacher)


def soft_minimum(questions: Tensor, words: QuestionWords, passages: Tensor, mask: Tensor) -> Tensor:
    """`−ln(Σ_w w e^(−8 s_w) / Σ_w w) / 8`, where `s_w` is a word's highest cosine to a token of the passage; (N, M).

    Args:
        questions: states of the questions' tokens (N, T, D).
        passages: states of the passages' tokens (M, U, D).
        mask: (M, U), true at tokens that are not special.
    """
    vectors = functional.normalize(words.pieces @ questions, dim=2)  # (N, W, D)
    tokens = functional.normalize(passages, dim=2)  # (M, U, D)
    cosines = torch.einsum("nwd,mud->nmwu", vectors, tokens)
    best = cosines.masked_fill(~mask[None, :, None, :], -1.0).amax(3)  # (N, M, W)
    weights = words.weights / words.weights.sum(1, keepdim=True).clamp_min(1e-6)
    return -((weights[:, None, :] * torch.exp(-SHARPNESS * best)).sum(2).clamp_min(1e-9)).log() / SHARPNESS


def refusal(soft: Tensor, teacher: Tensor, *, scale: Tensor, bias: Tensor, margin: float) -> Tensor:
    """Cross-entropy of “the passage answers the question”, `σ(scale · soft + bias)`, of each question's own passage
    and of the best wrong one: what ranks first if the answering document is not there.

    Wrong are passages that the teacher places `margin` below the positive; the best wrong one is the teacher's.
    """
    logits = scale * soft + bias  # (N, M)
    wrong = teacher.masked_fill(teacher >= teacher.diagonal().unsqueeze(1) - margin, -torch.inf)
    best, place = wrong.max(1)
    there = best > -torch.inf
    negative = logits.gather(1, place.unsqueeze(1)).squeeze(1)[there]
    positive = logits.diagonal()
    return functional.softplus(-positive).mean() + functional.softplus(negative).sum() / len(logits)
