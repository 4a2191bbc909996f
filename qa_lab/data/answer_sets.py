"""Questions with right and wrong candidate answers, for rankers.

From answer selection TSV, from threads of SemEval, from JSONL with `question`, `answers` and `negatives`, and from the
pairs of whatever else `train dense` reads, each of which is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from qa_core.types import FloatArray
from qa_lab.data.pairs import PAIR, incomplete, items, pair_of
from qa_lab.data.reading import Judged, Reading, TrainingData
from qa_lab.data.splitting import normalised, split_by_hash, train_dev_split
from qa_lab.errors import TrainingDataError
from rankers.training.answer_pool import AnswerPool, AnswerSet

Keep = Literal["both", "positive", "all", "short"]
"""Which questions count: those with right and wrong answers, with a right one, or all; or those with both, of whose
answers only those of at most 40 words count (the protocol for TrecQA of Wang 2018, §6.3.3)."""
SHORT = 40
"""Most words of an answer that counts as short."""
AnswerSets = TrainingData[tuple[AnswerSet, ...]]


def read_answer_sets(paths: Sequence[Path], *, limit: int | None = None) -> AnswerSets:
    """The questions of files and folders, the first `limit` of them; rows of one question may be apart.

    Raises:
        TrainingDataError: no question has an answer.
        FileNotFoundError: a path does not exist.
    """
    reading, rows = Reading(paths), 0
    questions: dict[tuple[str, str], dict[str, bool]] = {}  # by number and text of the question: labels by answer
    for record in reading.readable(items(paths)):
        if not (pair := pair_of(record)):
            reading.rejects.append(incomplete(record))
            continue
        key = (record.id if isinstance(record, Judged) else "", pair.question)
        if len(questions) == limit and key not in questions:
            continue
        labels = questions.setdefault(key, {})
        right = not isinstance(record, Judged) or record.right
        for answer, label in ((pair.answer, right), *((wrong, False) for wrong in pair.negatives)):
            rows += 1
            labels[answer] = labels.get(answer, False) or label
    sets = tuple(
        AnswerSet(question, tuple(labels), tuple(labels.values()), number)
        for (number, question), labels in questions.items()
    )
    count = sum(len(answers.answers) for answers in sets)
    return reading.result(sets, count, "questions with answers", units=PAIR, repeated=rows - count)


def split_questions(data: AnswerSets, dev: str) -> tuple[list[AnswerSet], list[AnswerSet]]:
    """Questions for training, and those held out: a share by a hash, or those of the path that `dev` names.

    Raises as `read_answer_sets`, and TrainingDataError for a share that is not between 0 and 1.
    """
    return train_dev_split(
        dev,
        list(data.examples),
        lambda sets, share: split_by_hash(sets, share, lambda answers: normalised(answers.question)),
        lambda path: list(read_answer_sets([path]).examples),
    )


def split_mixed(data: AnswerSets, dev: str) -> tuple[list[AnswerSet], list[AnswerSet]]:
    """The same; of the questions held out, those with right and wrong answers. Raises TrainingDataError if none is."""
    train, held_out = split_questions(data, dev)
    held_out = select(held_out, "both")
    if not train or not held_out:
        raise TrainingDataError(
            "Expected questions for training, and questions with right and wrong answers to hold out, but got "
            f"{len(train)} and {len(held_out)}; give more, or name development data with --dev PATH."
        )
    return train, held_out


@dataclass(frozen=True, slots=True)
class Figures:
    """MAP and MRR over the questions with right and wrong answers."""

    ap: float
    rr: float

    @classmethod
    def of(cls, pool: AnswerPool, scores: FloatArray) -> Self:
        """Of scores (N,) of the pool's pairs; equal scores are ranked by a hash."""
        measured = pool.measured(scores, ("AP", "RR"))
        return cls(measured["AP"].mean, measured["RR"].mean)

    def __str__(self) -> str:
        return f"MAP {self.ap:.3f}, MRR {self.rr:.3f}"

    def as_dict(self) -> dict[str, float]:
        return {"AP": self.ap, "RR": self.rr}


def select(sets: Iterable[AnswerSet], keep: Keep) -> list[AnswerSet]:
    """The questions that count.

    With `short`, a question whose right answers are all too long counts as one that is never answered: 4 of the 72
    of TrecQA's test set (ibid., note 3).
    """
    if keep == "short":
        return [_shortened(answers) for answers in sets if answers.mixed]
    if keep == "positive":
        return [answers for answers in sets if any(answers.labels)]
    return [answers for answers in sets if keep == "all" or answers.mixed]


def _shortened(answers: AnswerSet) -> AnswerSet:
    pairs = zip(answers.answers, answers.labels, strict=True)
    short = [(answer, label) for answer, label in pairs if len(answer.split()) <= SHORT]
    return replace(answers, answers=tuple(a for a, _ in short), labels=tuple(label for _, label in short))
