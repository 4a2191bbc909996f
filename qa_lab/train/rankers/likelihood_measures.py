"""How well a ranker by likelihood tells right answers: among those of other questions, and among judged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from qa_core.measures.metrics import evaluate
from rankers.neural import PairScorer, TextPair
from rankers.training.answer_pool import AnswerSet

AMONG = 20
"""Answers to choose from: a right one and 19 drawn by chance from other questions."""


def among(pairs: Sequence[TextPair], rng: np.random.Generator, *, size: int = AMONG) -> list[list[TextPair]]:
    """For each pair, itself and then its question with answers of other questions drawn by chance, `size` in all.

    Raises ValueError where other questions have too few answers.
    """
    answers = list(dict.fromkeys(answer for _, answer in pairs))
    own: dict[str, set[str]] = {}
    for question, answer in pairs:
        own.setdefault(question, set()).add(answer)
    lists = []
    for question, answer in pairs:
        order = (answers[place] for place in rng.permutation(len(answers)).tolist())
        others = [other for other in order if other not in own[question]][: size - 1]
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
        run[str(number)] = {str(place): float(value) for place, value in enumerate(score(pairs))}
    qrels = {number: {place: int(place == "0") for place in scores} for number, scores in run.items()}
    found = evaluate(qrels, run, ("RR", "P@1"))
    return found["RR"].mean, found["P@1"].mean


def judged_figures(ranker: PairScorer, sets: Sequence[AnswerSet]) -> tuple[float, float]:
    """MAP and MRR over questions with right and wrong answers."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number, each in enumerate(sets):
        scores = ranker.score([(each.question, answer) for answer in each.answers])
        run[str(number)] = {str(place): float(score) for place, score in enumerate(scores.tolist())}
        qrels[str(number)] = {str(place): int(label) for place, label in enumerate(each.labels)}
    found = evaluate(qrels, run, ("AP", "RR"))
    return found["AP"].mean, found["RR"].mean
