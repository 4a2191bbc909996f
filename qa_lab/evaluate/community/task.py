"""Held-out questions whose answers are searched among those of all held-out questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.runs import run_of
from qa_lab.data.pairs import split
from retrievers.training.examples import Examples, Pair

SETS = (
    "qa_pairs/open_qa.jsonl.gz",
    "qa_pairs/opentriviaqa.jsonl.gz",
    "qa_pairs/squad_sentences.jsonl.gz",
    "qa_pairs/medical_forum.jsonl.gz",
    "medquad/medquad.zip",
)
MEASURES = ("Success@1", "RR@1000", "R@10", "R@100", "R@1000")
BLOCK = 500  # questions measured at a time

Ranked = list[list[int]]
"""Candidates of each question, best first."""


class Task:
    """Training pairs, and held-out questions with their candidates."""

    def __init__(self, pairs: Sequence[Pair], *, queries: int, seed: int) -> None:
        rest, test = split(pairs, 0.1)
        self.pairs, dev = split(rest, 0.12)  # by the same hash: a fiftieth of all
        self.train, self.dev, self.test = Examples.of(self.pairs), Examples.of(dev), Examples.of(test)
        order = np.random.default_rng(seed).permutation(len(self.test.questions))
        self.queries = sorted(order[:queries].tolist())

    @cached_property
    def questions(self) -> list[str]:
        return [self.test.questions[number] for number in self.queries]

    def measured(self, ranked: Ranked) -> dict[str, Score]:
        """Every measure, computed in blocks of questions to save memory."""
        right = self.test.right()
        values: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
        for start in range(0, len(self.queries), BLOCK):
            numbers = self.queries[start : start + BLOCK]
            qrels = {str(number): {str(answer): 1 for answer in right[number]} for number in numbers}
            lists = zip(numbers, ranked[start : start + BLOCK], strict=True)
            run = run_of({str(number): list(map(str, answers)) for number, answers in lists})
            for measure, score in evaluate(qrels, run, MEASURES).items():
                values[measure].update(score.per_query)
        return {measure: Score.of(per_query) for measure, per_query in values.items()}


def sampled(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """At most `limit` random pairs, in the order of the data."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), limit, replace=False)
    return [pairs[row] for row in sorted(chosen.tolist())]
