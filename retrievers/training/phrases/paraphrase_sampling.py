"""Negatives of a paraphrase pair, from its mini-batch: MAX, RAND and MIX (Wieting et al. 2015, §4.1, appendix A).

Rows of `similarities` (N, M) are items, columns are candidates; `allowed` (N, M) is true if a candidate may be a
negative of the item (not itself, not its paraphrase, …). Each function returns a column per row, (N,) int64, or −1 for
a row without allowed candidates, whose hinge is left out. The choice has no gradient.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Sampling = Literal["max", "rand", "mix"]
NONE = -1
"""The column of a row without a candidate."""


def most_similar_others(similarities: Tensor, allowed: Tensor) -> Tensor:
    """MAX: the allowed candidate of highest similarity, the first of equal ones; (N,)."""
    _check(similarities, allowed)
    if not similarities.shape[1]:
        return torch.full((len(similarities),), NONE, device=similarities.device)
    best, column = similarities.detach().masked_fill(~allowed, -torch.inf).max(1)
    return column.masked_fill(best == -torch.inf, NONE)


def random_others(similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """RAND: an allowed candidate, drawn uniformly (N,); by default from torch's global generator."""
    _check(similarities, allowed)
    # the largest of independent uniform numbers is equally likely at every allowed candidate
    lots = torch.rand(allowed.shape, generator=generator, device=generator.device if generator else None)
    return most_similar_others(lots.to(allowed.device), allowed)


def mixed_others(similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """MIX: for each row MAX or RAND, by a fair coin; (N,)."""
    tossed = torch.rand(len(allowed), generator=generator, device=generator.device if generator else None) < 0.5
    drawn = random_others(similarities, allowed, generator=generator)
    return torch.where(tossed.to(allowed.device), most_similar_others(similarities, allowed), drawn)


def others(
    sampling: Sampling, similarities: Tensor, allowed: Tensor, *, generator: torch.Generator | None = None
) -> Tensor:
    """Negatives (N,) by the named sampling."""
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
            f"{allowed.dtype} {tuple(allowed.shape)}; give a mask of all candidates."
        )
