"""Questions, answers, and which belong together; batches of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import IntArray


class Pair(NamedTuple):
    """A question with one right answer, and answers known to be wrong."""

    question: str
    answer: str
    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Distinct texts by number; a question may have several answers and an answer several questions."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]
    pairs: IntArray  # (P, 2): question and right answer
    negatives: tuple[tuple[int, ...], ...]  # of each question: wrong answers that look right

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Self:
        """Raises ValueError where there is nothing to tell apart."""
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
                "nothing can be told apart: give more pairs."
            )
        found = cls(tuple(questions), tuple(answers), numbers, ((),) * len(questions))
        return found.with_negatives([tuple(wrong.get(question, ())) for question in range(len(questions))])

    def __len__(self) -> int:
        return len(self.pairs)

    def right(self) -> list[frozenset[int]]:
        """The right answers of each question."""
        found: list[set[int]] = [set() for _ in self.questions]
        for question, answer in self.pairs.tolist():
            found[question].add(answer)
        return [frozenset(each) for each in found]

    def with_negatives(self, mined: Sequence[Sequence[int]]) -> Self:
        """Further wrong answers for each question; what is right for it is left out."""
        merged = tuple(
            tuple(dict.fromkeys(answer for answer in (*old, *new) if answer not in right))
            for old, new, right in zip(self.negatives, mined, self.right(), strict=True)
        )
        return replace(self, negatives=merged)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs of a batch, an answer behind each question, and further wrong answers behind these.

    `kept` (N, M) is true where an answer is not known to be right for a question.
    """

    questions: IntArray  # (N,)
    answers: IntArray  # (M,), M ≥ N
    kept: NDArray[np.bool_]  # (N, M)

    def __len__(self) -> int:
        return len(self.questions)


def batches(examples: Examples, rng: np.random.Generator, *, size: int, hard: int = 0) -> Iterator[Batch]:
    """Every pair once, in batches of nearly one size, `size` at most; each question brings up to `hard` negatives."""
    right = examples.right()
    order = rng.permutation(len(examples))
    for chosen in np.array_split(order, steps(examples, size=size)):
        questions, answers = examples.pairs[chosen].T
        extra = [answer for question in questions for answer in _drawn(examples.negatives[question], hard, rng)]
        columns = np.concatenate([answers, np.array(extra, dtype=np.int64)])
        yield Batch(questions, columns, _kept(questions, columns, right))


def steps(examples: Examples, *, size: int) -> int:
    """Batches of an epoch."""
    return -(-len(examples) // size)


def _drawn(negatives: Sequence[int], count: int, rng: np.random.Generator) -> Sequence[int]:
    if len(negatives) <= count:
        return negatives
    return [negatives[place] for place in rng.choice(len(negatives), count, replace=False)] if count else ()


def _kept(questions: IntArray, columns: IntArray, right: Sequence[frozenset[int]]) -> NDArray[np.bool_]:
    places: dict[int, list[int]] = {}
    for place, answer in enumerate(columns.tolist()):
        places.setdefault(answer, []).append(place)
    kept = np.ones((len(questions), len(columns)), dtype=np.bool_)
    for row, question in enumerate(questions.tolist()):
        kept[row, [place for answer in right[question] for place in places.get(answer, ())]] = False
    return kept
