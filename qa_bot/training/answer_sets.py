"""Questions with their candidate answers, right and wrong, for rankers: from answer selection TSV, from JSONL with
`question`, `answers` and `negatives`, and from the pairs of whatever else `train dense` reads, each right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qa_bot.ingest.records import Notice, Record, Reject
from qa_bot.training.pairs import Judged, TrainingDataError, incomplete, items, pair_of
from rankers.pairs import AnswerSet

Keep = Literal["both", "positive", "all"]
"""Which questions count: those with right and wrong answers, those with a right one, or all."""


@dataclass(frozen=True, slots=True)
class AnswerSets:
    """In the order of the data; a text stands once in a question's answers."""

    sets: tuple[AnswerSet, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0  # answers that stood there before

    @property
    def pairs(self) -> Sequence[str]:
        """All answers, as the reports of what was read count them."""
        return [answer for each in self.sets for answer in each.answers]


def read_answer_sets(paths: Sequence[Path], *, limit: int | None = None) -> AnswerSets:
    """The questions of files and folders, the first `limit` of them. Rows of one question may stand apart.

    Raises:
        TrainingDataError: there is no question with an answer at all.
        FileNotFoundError: nothing is at a path.
    """
    found: dict[tuple[str, str], dict[str, bool]] = {}  # by number and text of the question: labels by answer
    rejects: list[Reject] = []
    notices: list[Notice] = []
    rows = 0
    for item in items(paths):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case Record() if pair := pair_of(item):
                key = (item.id if isinstance(item, Judged) else "", pair.question)
                if len(found) == limit and key not in found:
                    continue
                labels = found.setdefault(key, {})
                right = not isinstance(item, Judged) or item.right
                for answer, label in ((pair.answer, right), *((wrong, False) for wrong in pair.negatives)):
                    rows += 1
                    labels[answer] = labels.get(answer, False) or label
            case Record():
                rejects.append(incomplete(item))
    if not found:
        named = ", ".join(map(str, paths))
        first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; is there any file?"
        raise TrainingDataError(f"Expected questions with answers in {named}, but got none{first}")
    sets = tuple(
        AnswerSet(question, tuple(labels), tuple(labels.values()), number)
        for (number, question), labels in found.items()
    )
    return AnswerSets(sets, tuple(rejects), tuple(notices), rows - sum(len(each.answers) for each in sets))


def kept(sets: Iterable[AnswerSet], keep: Keep) -> list[AnswerSet]:
    """The questions that count."""
    return [each for each in sets if keep == "all" or (any(each.labels) if keep == "positive" else each.mixed)]
