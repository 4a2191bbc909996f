"""A pair as a judge sees it: the question and two texts, in an order that reveals nothing.

Both texts are normalised in the same way. Sources, titles, scores, confidence, citation marks and the names of the
sides are left out: people's answers have none, so they would reveal which side is which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from qa_bot.learning.comparing.comparison import Comparison, Pair

Order = Literal["AB", "BA"]
Choice = Literal["A", "B", "tie"]
Preference = Literal["first", "second", "tie"]
PREFERENCES: tuple[Preference, ...] = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class BlindPair:
    """A pair without its sides; an empty text is an abstention. `position` counts from 0 among the pairs to judge."""

    qid: str
    question: str
    body: str
    first: str
    second: str
    position: int

    def as_dict(self) -> dict[str, Any]:
        """The object that the owner's page gets."""
        texts = {"question": self.question, "body": self.body, "first": self.first, "second": self.second}
        return {"qid": self.qid, **texts, "place": self.position}


def order_of(seed: int, judge: str, qid: str) -> Order:
    """Which side is shown first: a fair coin, the same each time for the same seed, judge and question."""
    coin = hashlib.blake2b(f"{seed}\0{judge}\0{qid}".encode(), digest_size=1).digest()[0]
    return "AB" if coin % 2 else "BA"


def chosen_side(order: Order, preference: Preference) -> Choice:
    """The side of the preferred answer."""
    if preference == "tie":
        return "tie"
    return "A" if (preference == "first") == (order == "AB") else "B"


def blind_pair(comparison: Comparison, pair: Pair, judge: str, position: int) -> BlindPair:
    """The pair in the order of this judge."""
    texts = (pair.a, pair.b) if order_of(comparison.seed, judge, pair.qid) == "AB" else (pair.b, pair.a)
    return BlindPair(pair.qid, pair.question, pair.body, *texts, position)


def next_pair(comparison: Comparison, judge: str, done: Collection[str], *, start: int = 0) -> BlindPair | None:
    """The first pair from position `start` on that the judge has not judged; None if there is none.

    Args:
        done: ids of the questions that this judge has judged.
    """
    for position, pair in enumerate(comparison.judged.values()):
        if position >= start and pair.qid not in done:
            return blind_pair(comparison, pair, judge, position)
    return None
