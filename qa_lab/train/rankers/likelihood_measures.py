"""How well a ranker by likelihood finds right answers: among answers of other questions, and among judged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from qa_core.measures.metrics import evaluate
from rankers.neural import PairScorer, TextPair
from rankers.training.answer_pool import AnswerSet

AMONG = 20
"""Answers to choose from: a right one and 19 random ones of other questions."""


def among(pairs: Sequence[TextPair], rng: np.random.Generator, *, size: int = AMONG) -> list[list[TextPair]]:
    """For each pair: the pair, then its question with random answers of other questions, `size` in all.

    Raises ValueError if other questions have too few answers.
    """
    answers = list(dict.fromkeys(answer for _, answer in pairs))
    right: dict[str, set[str]] = {}
    for question, answer in pairs:
        right.setdefault(question, set()).add(answer)
    lists = []
    for question, answer in pairs:
        order = (answers[number] for number in rng.permutation(len(answers)).tolist())
        others = [other for other in order if other not in right[question]][: size - 1]
        if len(others) < size - 1:
            raise ValueError(f"Expected {size - 1} answers of other questions, but got {len(others)}; hold out more.")
        lists.append([(question, answer), *((question, other) for other in others)])
    return lists


def chosen(
    lists: Sequence[Sequence[TextPair]], score: Callable[[Sequence[TextPair]], Sequence[float]]
) -> tuple[float, float]:
    """MRR and P@1 of the first of each list; equal scores are ranked by a hash."""
    run: dict[str, dict[str, float]] = {}
    for number, pairs in enumerate(lists):
        run[str(number)] = {str(index): float(value) for index, value in enumerate(score(pairs))}
    qrels = {number: {index: int(index == "0") for index in scores} for number, scores in run.items()}
    measured = evaluate(qrels, run, ("RR", "P@1"))
    return measured["RR"].mean, measured["P@1"].mean


def judged_figures(ranker: PairScorer, sets: Sequence[AnswerSet]) -> tuple[float, float]:
    """MAP and MRR over questions with right and wrong answers."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number, question in enumerate(sets):
        scores = ranker.score([(question.question, answer) for answer in question.answers])
        run[str(number)] = {str(index): float(score) for index, score in enumerate(scores.tolist())}
        qrels[str(number)] = {str(index): int(label) for index, label in enumerate(question.labels)}
    measured = evaluate(qrels, run, ("AP", "RR"))
    return measured["AP"].mean, measured["RR"].mean
