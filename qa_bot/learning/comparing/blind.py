"""What a judge sees of a pair: the question and two texts, in an order that tells nothing.

Both texts were tidied in the same way. Sources, titles, scores, confidence and markers of citations are left out, since
people's answers have none and they would tell which side is which; so is every name of a side. What is left is what a
user would read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from qa_bot.learning.comparing.comparison import Comparison, Pair

Order = Literal["AB", "BA"]
Choice = Literal["A", "B", "tie"]
Place = Literal["first", "second", "tie"]
PLACES: tuple[Place, ...] = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair without its sides; an empty text is no answer. `place` counts from 0 among the pairs to be judged."""

    qid: str
    question: str
    body: str
    first: str
    second: str
    place: int


def order_of(seed: int, judge: str, qid: str) -> Order:
    """Which side stands first: a fair coin by seed, judge and question, the same whenever it is thrown again."""
    coin = hashlib.blake2b(f"{seed}\0{judge}\0{qid}".encode(), digest_size=1).digest()[0]
    return "AB" if coin % 2 else "BA"


def chosen(order: Order, place: Place) -> Choice:
    """The side behind a place on the screen."""
    if place == "tie":
        return "tie"
    return "A" if (place == "first") == (order == "AB") else "B"


def show(comparison: Comparison, pair: Pair, judge: str, place: int) -> Shown:
    texts = (pair.a, pair.b) if order_of(comparison.seed, judge, pair.qid) == "AB" else (pair.b, pair.a)
    return Shown(pair.qid, pair.question, pair.body, *texts, place)


def next_pair(comparison: Comparison, judge: str, done: Collection[str], *, start: int = 0) -> Shown | None:
    """The first pair at or after a place that the judge has not judged; None where all that follow are done.

    Args:
        done: ids of the questions that this judge has judged.
    """
    waiting = enumerate(comparison.judged.values())
    return next(
        (show(comparison, pair, judge, place) for place, pair in waiting if place >= start and pair.qid not in done),
        None,
    )
