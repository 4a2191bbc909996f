"""Judging in a terminal, one pair after another: `1`, `2` or `0` a line, optionally followed by two grades."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from qa_bot.learning.comparing.blind import PREFERENCES, BlindPair, Preference, next_pair
from qa_bot.learning.comparing.comparison import Comparison
from qa_bot.learning.comparing.judgements import Judgement, judge_pair
from qa_bot.learning.comparing.sides import GRADES

HELP = (
    "1 the first is better, 2 the second is better, 0 a tie, s skip, q quit; "
    "with grades from 0 (bad) to 3 (excellent) of both: 1 3 2"
)

Read = Callable[[], str | None]
"""The next line, None at the end."""
_PREFERENCES: dict[str, Preference] = {"1": PREFERENCES[0], "2": PREFERENCES[1], "0": PREFERENCES[2]}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of one line about the pair on the screen; the grades are of its first and second answer."""

    preference: Preference
    grades: tuple[int | None, int | None] = (None, None)


def judge_all(
    comparison: Comparison,
    judge: str,
    done: Collection[str],
    read: Read,
    *,
    show: Callable[[BlindPair, int], None],
    notify: Callable[[str], None],
    save: Callable[[Judgement], None],
) -> int:
    """Show every pair that the judge has not judged and save the judgements; return their number.

    A skipped pair comes again in the next run. Ends when all pairs are judged or `read` returns None.
    """
    start = judged = 0
    while (shown := next_pair(comparison, judge, done, start=start)) is not None:
        show(shown, len(comparison.judged))
        began = time.monotonic()
        verdict = _read_verdict(read, notify)
        if verdict is None:
            break
        if isinstance(verdict, Verdict):
            seconds = round(time.monotonic() - began, 3)
            pair = comparison.judged[shown.qid]
            save(judge_pair(comparison, pair, judge, verdict.preference, grades=verdict.grades, seconds=seconds))
            judged += 1
        start = shown.position + 1
    return judged


def parse_verdict(line: str) -> Verdict | None:
    """The verdict of a line, None for any other line."""
    first, *rest = line.split() or [""]
    levels = {str(grade): grade for grade in GRADES}
    if first not in _PREFERENCES or len(rest) not in (0, 2) or any(word not in levels for word in rest):
        return None
    if not rest:
        return Verdict(_PREFERENCES[first])
    return Verdict(_PREFERENCES[first], (levels[rest[0]], levels[rest[1]]))


def _read_verdict(read: Read, notify: Callable[[str], None]) -> Verdict | Literal["skip"] | None:
    """Read lines up to the first valid one; None if the judge stops."""
    while (line := read()) is not None:
        match line.strip().lower():
            case "q":
                return None
            case "s":
                return "skip"
            case other:
                if verdict := parse_verdict(other):
                    return verdict
                notify(f"Expected one of these, but got {line.strip()[:40]!r}: {HELP}")
    return None
