"""Reliability of voters, and the joint evidence of their votes: one parameter a voter (Dawid and Skene 1979).

A voter v is right with probability a_v, on all items. For an item i, voted up (s = 1) or down (s = −1),

    evidence_i = Σ_v w_iv s_iv log(a_v / (1 − a_v))        P_i = 1 / (1 + exp(−evidence_i))
    a_v = (K m + Σ_i w_iv P(s_iv is right | the others' votes on i)) / (K + Σ_i w_iv)

are computed in turn, the accuracy over items that another voter voted on too. m and K are the prior accuracy and its
strength. Unlike in the paper, a voter's vote does not confirm the same voter, and a voter with more wrong votes than
right ones gets weight 0, not a negative weight: otherwise opposing a stranger would give that stranger's votes weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray

STRANGER = 0.7
"""Prior accuracy of a voter (m)."""
SHRINKAGE = 4.0
"""Votes that weigh as much as the prior (K)."""
SUREST = 0.95
"""Highest accuracy of a voter."""
ROUNDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """V votes; voters and items are numbered from 0."""

    item: IntArray  # (V,)
    voter: IntArray  # (V,)
    up: NDArray[np.bool_]  # (V,)
    weight: NDArray[np.float64]  # (V,)


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    accuracy: NDArray[np.float64]  # of each voter
    evidence: NDArray[np.float64]  # log-odds of each item


def reliability(votes: Votes) -> Reliability:
    """Accuracies and evidence after `ROUNDS` rounds of expectation and maximisation, starting from the prior."""
    voters = int(votes.voter.max(initial=-1)) + 1
    signs = np.where(votes.up, 1.0, -1.0)
    others = np.bincount(votes.item)[votes.item] > 1
    counted = np.where(others, votes.weight, 0.0)
    accuracy = np.full(voters, STRANGER)
    for _ in range(ROUNDS):
        terms = signs * votes.weight * _log_odds(accuracy)[votes.voter]
        evidence = np.bincount(votes.item, terms)
        right = 1 / (1 + np.exp(-signs * (evidence[votes.item] - terms)))
        agreed = np.bincount(votes.voter, counted * right)
        accuracy = (SHRINKAGE * STRANGER + agreed) / (SHRINKAGE + np.bincount(votes.voter, counted))
    terms = signs * votes.weight * _log_odds(accuracy)[votes.voter]
    return Reliability(accuracy, np.bincount(votes.item, terms).astype(np.float64))


def _log_odds(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of a vote by the voter's accuracy."""
    bounded = accuracy.clip(0.5, SUREST)
    log_odds: NDArray[np.float64] = np.log(bounded / (1 - bounded))
    return log_odds
