"""How far each voter can be relied on, and what all of them say together: one coin a voter (Dawid and Skene 1979).

A voter v is right with probability a_v, whatever is voted on. Of an item i, voted up (s = 1) or down (s = −1), then is

    evidence_i = Σ_v w_iv s_iv log(a_v / (1 − a_v))        P_i = 1 / (1 + exp(−evidence_i))
    a_v = (K m + Σ_i w_iv P(s_iv is right | the others' votes on i)) / (K + Σ_i w_iv)

in turn, over items that somebody else voted on too. m and K are what is believed of a stranger, and how firmly. Unlike
there a voter's own vote does not confirm the voter, and one who is wrong more often than right is heard no longer, but
not turned round: else a stranger's word could be bought by opposing it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray

STRANGER = 0.7
"""How often a voter is right of whom nothing is known (m)."""
SHRINKAGE = 4.0
"""Votes that weigh as much as that belief (K)."""
SUREST = 0.95
"""Nobody is believed to be right more often."""
ROUNDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """V votes of voters on items, both numbered from 0."""

    item: IntArray  # (V,)
    voter: IntArray  # (V,)
    up: NDArray[np.bool_]  # (V,)
    weight: NDArray[np.float64]  # (V,)


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    accuracy: NDArray[np.float64]  # of each voter
    evidence: NDArray[np.float64]  # log-odds of each item


def reliability(votes: Votes) -> Reliability:
    """Of voters and items, by so many rounds of expectation and maximisation from strangers."""
    voters = int(votes.voter.max(initial=-1)) + 1
    signs = np.where(votes.up, 1.0, -1.0)
    others = np.bincount(votes.item)[votes.item] > 1
    counted = np.where(others, votes.weight, 0.0)
    accuracy = np.full(voters, STRANGER)
    for _ in range(ROUNDS):
        said = signs * votes.weight * _heard(accuracy)[votes.voter]
        evidence = np.bincount(votes.item, said)
        right = 1 / (1 + np.exp(-signs * (evidence[votes.item] - said)))
        agreed = np.bincount(votes.voter, counted * right)
        accuracy = (SHRINKAGE * STRANGER + agreed) / (SHRINKAGE + np.bincount(votes.voter, counted))
    said = signs * votes.weight * _heard(accuracy)[votes.voter]
    return Reliability(accuracy, np.bincount(votes.item, said).astype(np.float64))


def _heard(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a vote of such voters says, in log-odds."""
    bounded = accuracy.clip(0.5, SUREST)
    log_odds: NDArray[np.float64] = np.log(bounded / (1 - bounded))
    return log_odds
