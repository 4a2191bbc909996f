"""Weights of the features of interpretations: a conditional logit, in which each question's interpretations compete.

    loss = − Σ_q log (Σ_{r right} e^{w·x_r} / Σ_r e^{w·x_r}) + λ Σ_k (w_k σ_k)²

(D. McFadden, "Conditional logit analysis of qualitative choice behavior", 1974; several interpretations may be right.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch


class Example(NamedTuple):
    """The interpretations of a question: their features, and which are right; `weight` is how much it counts."""

    features: Sequence[Mapping[str, float]]
    right: Sequence[bool]
    weight: float = 1.0


def fit_weights(
    examples: Sequence[Example], names: Sequence[str], *, penalty: float = 0.3, steps: int = 100
) -> dict[str, float]:
    """A weight for each of the features; questions whose interpretations are all right or all wrong tell nothing.

    Raises:
        ValueError: no question has right and wrong interpretations.
    """
    told = [each for each in examples if any(each.right) and not all(each.right)]
    if not told:
        raise ValueError("Expected questions with right and wrong interpretations, but got none.")
    tables = [torch.tensor([[row.get(n, 0.0) for n in names] for row in each.features]).double() for each in told]
    rights = [torch.tensor(each.right) for each in told]
    deviation = torch.cat(tables).std(dim=0, correction=0).clamp(min=1e-9)
    deviation[deviation < 1e-6] = 1.0  # of a feature that never changes: its weight stays 0
    weights = torch.zeros(len(names), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        total = penalty * weights.square().sum()
        for each, table, right in zip(told, tables, rights, strict=True):
            scores = (table / deviation) @ weights
            total = total + each.weight * (scores.logsumexp(0) - scores[right].logsumexp(0))
        total.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
        return total

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return dict(zip(names, (weights.detach() / deviation).tolist(), strict=True))
