"""Training examples of dense search: questions with right and wrong answers, and batches of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray


class Pair(NamedTuple):
    """A question with a right answer and known wrong answers."""

    question: str
    answer: str
    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Distinct questions and answers by number, and the pairs of them that match."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]
    pairs: IntArray  # (P, 2), question and right answer
    negatives: tuple[tuple[int, ...], ...]  # wrong answers of each question

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Self:
        """Raises ValueError unless there are two questions with different answers."""
        questions: dict[str, int] = {}
        answers: dict[str, int] = {}
        right: dict[tuple[int, int], None] = {}
        wrong: dict[int, dict[int, None]] = {}
        for pair in pairs:
            question = questions.setdefault(pair.question, len(questions))
            right[question, answers.setdefault(pair.answer, len(answers))] = None
            for text in pair.negatives:
                wrong.setdefault(question, {})[answers.setdefault(text, len(answers))] = None
        numbers = np.array([*right], dtype=np.int64).reshape(-1, 2)
        if len(set(numbers[:, 0])) < 2 or len(set(numbers[:, 1])) < 2:
            raise ValueError(
                "Expected at least two questions with different answers, but got "
                f"{len(set(numbers[:, 0]))} questions and {len(set(numbers[:, 1]))} answers in {len(right)} pairs; "
                "give more pairs."
            )
        examples = cls(tuple(questions), tuple(answers), numbers, ((),) * len(questions))
        return examples.with_negatives([tuple(wrong.get(question, ())) for question in range(len(questions))])

    def __len__(self) -> int:
        return len(self.pairs)

    def texts(self) -> list[tuple[str, str]]:
        """Question and answer of each pair."""
        return [(self.questions[question], self.answers[answer]) for question, answer in self.pairs.tolist()]

    def right(self) -> list[frozenset[int]]:
        """The right answers of each question."""
        right: list[set[int]] = [set() for _ in self.questions]
        for question, answer in self.pairs.tolist():
            right[question].add(answer)
        return [frozenset(answers) for answers in right]

    def with_negatives(self, mined: Sequence[Sequence[int]]) -> Self:
        """The examples with more wrong answers for each question; its right answers are left out."""
        merged = tuple(
            tuple(dict.fromkeys(answer for answer in (*old, *new) if answer not in right))
            for old, new, right in zip(self.negatives, mined, self.right(), strict=True)
        )
        return replace(self, negatives=merged)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs of a batch: column n is the answer of question n, and further columns are wrong answers.

    `allowed` (N, M) is true if an answer may serve as a negative of a question, because it is not known to be right.
    """

    questions: IntArray  # (N,)
    answers: IntArray  # (M,), M ≥ N
    allowed: NDArray[np.bool_]  # (N, M)

    def __len__(self) -> int:
        return len(self.questions)


def batches(examples: Examples, rng: np.random.Generator, *, size: int, hard: int = 0) -> Iterator[Batch]:
    """Every pair once, in batches of nearly equal size up to `size`, with up to `hard` wrong answers per question."""
    right = examples.right()
    order = rng.permutation(len(examples))
    for chosen in np.array_split(order, steps(examples, size=size)):
        questions, answers = examples.pairs[chosen].T
        extra = [answer for question in questions for answer in _drawn(examples.negatives[question], hard, rng)]
        columns = np.concatenate([answers, np.array(extra, dtype=np.int64)])
        yield Batch(questions, columns, _allowed(questions, columns, right))


def steps(examples: Examples, *, size: int) -> int:
    """Number of batches in an epoch."""
    return -(-len(examples) // size)


def _drawn(negatives: Sequence[int], count: int, rng: np.random.Generator) -> Sequence[int]:
    if len(negatives) <= count:
        return negatives
    return [negatives[i] for i in rng.choice(len(negatives), count, replace=False)] if count else ()


def _allowed(questions: IntArray, columns: IntArray, right: Sequence[frozenset[int]]) -> NDArray[np.bool_]:
    columns_of: dict[int, list[int]] = {}
    for column, answer in enumerate(columns.tolist()):
        columns_of.setdefault(answer, []).append(column)
    allowed = np.ones((len(questions), len(columns)), dtype=np.bool_)
    for row, question in enumerate(questions.tolist()):
        allowed[row, [column for answer in right[question] for column in columns_of.get(answer, ())]] = False
    return allowed
