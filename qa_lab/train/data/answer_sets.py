"""Questions with their candidate answers, right and wrong, for rankers: from answer selection TSV, from JSONL with
`question`, `answers` and `negatives`, and from the pairs of whatever else `train dense` reads, each right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from qa_bot.documents.ingest.records import Notice, Record, Reject
from qa_core.measures.metrics import evaluate
from qa_core.types import FloatArray
from qa_lab.train.data.pairs import Judged, incomplete, items, pair_of, split
from qa_lab.train.errors import TrainingDataError
from qa_lab.train.request import Request
from rankers.training.answer_pool import AnswerPool, AnswerSet
from retrievers.training.examples import Pair

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


def parted(request: Request, on_read: Callable[[AnswerSets], None]) -> tuple[list[AnswerSet], list[AnswerSet], int]:
    """Questions for training, those held out, and how many places of the data could not be read.

    Those of a path that `request.dev` names are held out, or a share of the questions, by a hash. Raises as
    `read_answer_sets`, and TrainingDataError for a share that is none.
    """
    data = read_answer_sets(request.data, limit=request.limit)
    on_read(data)
    try:
        share = float(request.dev)
    except ValueError:
        return list(data.sets), list(read_answer_sets([Path(request.dev)]).sets), len(data.rejects)
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
    held = {pair.question for pair in split([Pair(each.question, "") for each in data.sets], share)[1]}
    train = [each for each in data.sets if each.question not in held]
    return train, [each for each in data.sets if each.question in held], len(data.rejects)


def parted_mixed(
    request: Request, on_read: Callable[[AnswerSets], None]
) -> tuple[list[AnswerSet], list[AnswerSet], int]:
    """The same; of those held out the ones with right and wrong answers. TrainingDataError where nothing is left."""
    train, held, rejects = parted(request, on_read)
    held = kept(held, "both")
    if not train or not held:
        raise TrainingDataError(
            "Expected questions for training, and questions with right and wrong answers to hold out, but got "
            f"{len(train)} and {len(held)}; give more, or name development data with --dev PATH."
        )
    return train, held, rejects


@dataclass(frozen=True, slots=True)
class Figures:
    """Over the questions with right and wrong answers."""

    ap: float
    rr: float

    @classmethod
    def of(cls, pool: AnswerPool, scores: FloatArray) -> Self:
        """Of scores (N,) of the pool's pairs; equal ones are ranked by a hash."""
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        columns = (pool.question.tolist(), pool.answer.tolist(), pool.label.tolist(), scores.tolist())
        for question, answer, label, score in zip(*columns, strict=True):
            qrels.setdefault(str(question), {})[str(answer)] = int(label)
            run.setdefault(str(question), {})[str(answer)] = score
        both = {question: grades for question, grades in qrels.items() if len(set(grades.values())) == 2}
        found = evaluate(both, {question: run[question] for question in both}, ("AP", "RR"))
        return cls(found["AP"].mean, found["RR"].mean)

    def as_dict(self) -> dict[str, float]:
        return {"AP": self.ap, "RR": self.rr}


def kept(sets: Iterable[AnswerSet], keep: Keep) -> list[AnswerSet]:
    """The questions that count."""
    return [each for each in sets if keep == "all" or (any(each.labels) if keep == "positive" else each.mixed)]
