"""Which of two rankings do votes favour? Team-draft interleaving (Radlinski, Kurup and Joachims 2008, algorithm 2).

Two rankings pick documents for one list in turns, like captains pick players. A coin decides who picks first in each
round, and each picks its best document that is still free. A vote up is a point for the ranking that picked the
document, a vote down a point against it. Every draft is repeated with inverted coins, so rankings that agree tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qa_core.measures.significance import sign_test

LENGTH = 10
"""Documents of an interleaved list, as many as an answer shows."""
PRESENT, CHALLENGER = 0, 1


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Questions that the challenger wins, loses, or neither."""

    wins: int
    losses: int
    ties: int
    p: float  # by the sign test, two-sided
    margin: float  # mean credit of a question, that of the challenger less that of the present ranking

    @classmethod
    def of(cls, margins: Sequence[float]) -> Interleaved:
        wins, losses = sum(m > 1e-9 for m in margins), sum(m < -1e-9 for m in margins)
        mean = sum(margins) / len(margins) if margins else 0.0
        return cls(wins, losses, len(margins) - wins - losses, sign_test(wins, losses), mean)


def team_draft(
    present: Sequence[str], challenger: Sequence[str], first: Sequence[int], *, length: int = LENGTH
) -> list[tuple[str, int]]:
    """A list of up to `length` documents, each with the team that brought it.

    Args:
        first: the team that picks first, a round each.
    """
    rankings = (list(dict.fromkeys(present)), list(dict.fromkeys(challenger)))
    drafted: dict[str, int] = {}
    for begins in first:
        for team in (begins, 1 - begins):
            if len(drafted) == length:
                return [*drafted.items()]
            best = next((document for document in rankings[team] if document not in drafted), None)
            if best is not None:
                drafted[best] = team
    return [*drafted.items()]


def margin(
    present: Sequence[str],
    challenger: Sequence[str],
    credit: Mapping[str, float],
    *,
    drafts: int,
    rng: np.random.Generator,
    length: int = LENGTH,
) -> float:
    """The challenger's credit less that of the present ranking, the mean of `drafts` pairs of lists."""
    if list(present[:length]) == list(challenger[:length]):
        return 0.0
    total = 0.0
    for _ in range(drafts):
        coins = rng.integers(2, size=length)
        for first in (coins, 1 - coins):
            drafted = team_draft(present, challenger, first.tolist(), length=length)
            total += sum(credit.get(name, 0.0) * (1 if team == CHALLENGER else -1) for name, team in drafted)
    return total / (2 * drafts)


def interleaved(
    present: Sequence[Sequence[str]],
    challenger: Sequence[Sequence[str]],
    credit: Sequence[Mapping[str, float]],
    *,
    drafts: int,
    seed: int,
    length: int = LENGTH,
) -> Interleaved:
    """Over questions: documents of each by both rankings, best first, and the credit of those that were voted on."""
    rng = np.random.default_rng(seed)
    questions = zip(present, challenger, credit, strict=True)
    return Interleaved.of([margin(*rankings, drafts=drafts, rng=rng, length=length) for rankings in questions])
