"""Negatives of a paraphrase pair from its mini-batch: MAX, RAND and MIX (Wieting et al. 2015, §4.1 and appendix A).

A row of `similarities` (N, M) is an item, a column a candidate; `allowed` (N, M) is true where the candidate may be the
item's negative (not itself, not its paraphrase, …). Each function gives a column for every row, (N,) int64, and −1
where nothing is allowed: such a row has no negative and its hinge is left out. No choice has a gradient.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Sampling = Literal["max", "rand", "mix"]
NONE = -1
"""Stands for the candidate of a row that has none."""


def most_similar_others(similarities: Tensor, allowed: Tensor) -> Tensor:
    """MAX: the allowed candidate of highest similarity, the first of equals; (N,)."""
    _check(similarities, allowed)
    if not similarities.shape[1]:
        return torch.full((len(similarities),), NONE, device=similarities.device)
    best, column = similarities.detach().masked_fill(~allowed, -torch.inf).max(1)
    return column.masked_fill(best == -torch.inf, NONE)


def random_others(similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """RAND: one of the allowed candidates, each as likely; (N,). Without a generator torch's global one draws."""
    _check(similarities, allowed)
    # the largest of independent uniform numbers falls on every allowed candidate equally often
    lots = torch.rand(allowed.shape, generator=generator, device=generator.device if generator else None)
    return most_similar_others(lots.to(allowed.device), allowed)


def mixed_others(similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """MIX: for each row MAX or RAND by the toss of a fair coin; (N,)."""
    tossed = torch.rand(len(allowed), generator=generator, device=generator.device if generator else None) < 0.5
    drawn = random_others(similarities, allowed, generator=generator)
    return torch.where(tossed.to(allowed.device), most_similar_others(similarities, allowed), drawn)


def others(
    sampling: Sampling, similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None
) -> Tensor:
    """The negatives of the sampling of that name; (N,)."""
    match sampling:
        case "max":
            return most_similar_others(similarities, allowed)
        case "rand":
            return random_others(similarities, allowed, generator=generator)
        case "mix":
            return mixed_others(similarities, allowed, generator=generator)


def _check(similarities: Tensor, allowed: Tensor) -> None:
    if similarities.ndim != 2 or similarities.shape != allowed.shape or allowed.dtype != torch.bool:
        raise ValueError(
            f"Expected similarities (N, M) and a boolean mask of their shape, but got {tuple(similarities.shape)} and "
            f"{allowed.dtype} {tuple(allowed.shape)}; say of every candidate whether it is allowed."
        )
