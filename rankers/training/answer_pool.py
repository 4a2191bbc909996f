"""Questions with labelled answers, as training data of pair scorers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from qa_core.measures.metrics import Score, evaluate
from qa_core.types import FloatArray, IntArray
from rankers.neural import TextPair


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A question and its candidate answers, each with a label."""

    question: str
    answers: tuple[str, ...]
    labels: tuple[bool, ...]
    id: str = ""

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.labels):
            raise ValueError(
                f"Expected a label for each answer, but got {len(self.answers)} answers and {len(self.labels)} labels."
            )

    @property
    def mixed(self) -> bool:
        """Whether there are right and wrong answers."""
        return len(set(self.labels)) == 2


@dataclass(frozen=True, eq=False)
class AnswerPool:
    """Labelled pairs as rows of distinct questions and distinct answers."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]
    question: IntArray  # (N,)
    answer: IntArray  # (N,)
    label: NDArray[np.bool_]  # (N,)

    @classmethod
    def of(cls, sets: Iterable[AnswerSet]) -> Self:
        """The distinct pairs of the sets; a pair with both labels counts as right."""
        questions: dict[str, int] = {}
        answers: dict[str, int] = {}
        labels: dict[tuple[int, int], bool] = {}
        for answer_set in sets:
            question = questions.setdefault(answer_set.question, len(questions))
            for text, label in zip(answer_set.answers, answer_set.labels, strict=True):
                pair = question, answers.setdefault(text, len(answers))
                labels[pair] = labels.get(pair, False) or label
        pairs = np.array(list(labels), dtype=np.int64).reshape(-1, 2)
        return cls(tuple(questions), tuple(answers), pairs[:, 0], pairs[:, 1], np.array([*labels.values()], dtype=bool))

    def __len__(self) -> int:
        return len(self.label)

    def measured(self, scores: FloatArray, measures: Sequence[str]) -> dict[str, Score]:
        """Measures of scores (N,) over questions with right and wrong answers; equal scores are ranked by a hash."""
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        columns = (self.question.tolist(), self.answer.tolist(), self.label.tolist(), scores.tolist())
        for question, answer, label, score in zip(*columns, strict=True):
            qrels.setdefault(str(question), {})[str(answer)] = int(label)
            run.setdefault(str(question), {})[str(answer)] = score
        mixed = {question: grades for question, grades in qrels.items() if len(set(grades.values())) == 2}
        return evaluate(mixed, {question: run[question] for question in mixed}, measures)

    @cached_property
    def right(self) -> list[IntArray]:
        """Rows of the right answers of each question."""
        return self._grouped(self.label)

    @cached_property
    def wrong(self) -> list[IntArray]:
        """Rows of the answers labelled wrong, of each question."""
        return self._grouped(~self.label)

    def pairs(self) -> list[TextPair]:
        rows = zip(self.question.tolist(), self.answer.tolist(), strict=True)
        return [(self.questions[question], self.answers[answer]) for question, answer in rows]

    def _grouped(self, mask: NDArray[np.bool_]) -> list[IntArray]:
        order = np.argsort(self.question[mask], kind="stable")
        counts = np.bincount(self.question[mask], minlength=len(self.questions))
        return np.split(self.answer[mask][order], np.cumsum(counts)[:-1])


def check_mixed(pool: AnswerPool) -> None:
    """Raises ValueError unless the pool has right and wrong pairs."""
    if len(set(pool.label.tolist())) < 2:
        got = f"all {len(pool)} are {'right' if pool.label[0] else 'wrong'}" if len(pool) else "got none"
        raise ValueError(f"Expected pairs that are right and pairs that are wrong, but {got}; give both kinds.")
