"""Fits the weights of the features of interpretations: a conditional logit within each question.

    loss = − Σ_q log (Σ_{r right} e^{w·x_r} / Σ_r e^{w·x_r}) + λ Σ_k (w_k σ_k)²

where σ_k is the standard deviation of feature k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from qa_core.training.conditional_logit import Choice, any_right, fit_conditional_logit


class Example(NamedTuple):
    """The interpretations of a question: their features, which are right, and the weight of the question."""

    features: Sequence[Mapping[str, float]]
    right: Sequence[bool]
    weight: float = 1.0


def fit_weights(examples: Sequence[Example], names: Sequence[str], *, penalty: float = 0.3) -> dict[str, float]:
    """A weight for each feature. Questions whose interpretations are all right or all wrong are ignored.

    Raises ValueError if no question has right and wrong interpretations.
    """
    informative = [example for example in examples if any(example.right) and not all(example.right)]
    if not informative:
        raise ValueError("Expected questions with right and wrong interpretations, but got none.")
    tables = [np.array([[row.get(n, 0.0) for n in names] for row in e.features], np.float64) for e in informative]
    deviation = np.concatenate(tables).std(axis=0)
    deviation[deviation < 1e-6] = 1.0  # a constant feature keeps the weight 0
    choices = [
        Choice(table / deviation, np.array(example.right), example.weight)
        for table, example in zip(tables, informative, strict=True)
    ]
    weights = fit_conditional_logit(choices, any_right, penalty=penalty) / deviation
    return dict(zip(names, weights.tolist(), strict=True))
