"""One pair after another, judged by lines: `1`, `2` or `0`, with two grades behind it for those who like."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from qa_bot.learning.comparing.blind import PLACES, Place, Shown, next_pair
from qa_bot.learning.comparing.comparison import Comparison
from qa_bot.learning.comparing.judgements import Judgement, judge_pair
from qa_bot.learning.comparing.sides import GRADES

HELP = (
    "1 the first is better, 2 the second is better, 0 a tie, s skip, q quit; "
    "with grades from 0 (bad) to 3 (excellent) of both: 1 3 2"
)

Read = Callable[[], str | None]
"""The next line, None at the end."""
_PLACES: dict[str, Place] = {"1": PLACES[0], "2": PLACES[1], "0": PLACES[2]}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a line says of the pair on the screen; the grades are of its first and second answer."""

    place: Place
    grades: tuple[int | None, int | None] = (None, None)


def judge_all(
    comparison: Comparison,
    judge: str,
    done: Collection[str],
    read: Read,
    *,
    show: Callable[[Shown, int], None],
    tell: Callable[[str], None],
    save: Callable[[Judgement], None],
) -> int:
    """Show every pair that the judge has not judged, and save what is said of it; how many were judged.

    A pair that is skipped comes again in the next run. Ends when there is nothing left to judge or to read.
    """
    start = judged = 0
    while (shown := next_pair(comparison, judge, done, start=start)) is not None:
        show(shown, len(comparison.judged))
        began = time.monotonic()
        verdict = _verdict(read, tell)
        if verdict is None:
            break
        if isinstance(verdict, Verdict):
            seconds = round(time.monotonic() - began, 3)
            pair = comparison.judged[shown.qid]
            save(judge_pair(comparison, pair, judge, verdict.place, grades=verdict.grades, seconds=seconds))
            judged += 1
        start = shown.place + 1
    return judged


def parsed(line: str) -> Verdict | None:
    """The verdict of a line, None where it is none."""
    first, *rest = line.split() or [""]
    levels = {str(grade): grade for grade in GRADES}
    if first not in _PLACES or len(rest) not in (0, 2) or any(each not in levels for each in rest):
        return None
    if not rest:
        return Verdict(_PLACES[first])
    return Verdict(_PLACES[first], (levels[rest[0]], levels[rest[1]]))


def _verdict(read: Read, tell: Callable[[str], None]) -> Verdict | Literal["skip"] | None:
    """Lines are read until one says something; None where the judge stops."""
    while (line := read()) is not None:
        match line.strip().lower():
            case "q":
                return None
            case "s":
                return "skip"
            case other:
                if verdict := parsed(other):
                    return verdict
                tell(f"Expected one of these, but got {line.strip()[:40]!r}: {HELP}")
    return None
