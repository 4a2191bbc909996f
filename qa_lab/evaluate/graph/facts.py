"""`eval facts`: questions that one fact answers, from the question to the answer, over the home's graph.

accuracy             of the questions that the graph can answer, those whose best interpretation has exactly the answers
answered             of these, those that are given an answer at the wanted precision
precision            right ones among all answers given, those to unanswerable questions counted as wrong
abstained            of the questions that the graph cannot answer, those left unanswered
p50_ms, p99_ms       from question to answer, one after the other
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from qa_bot.answering.graph.facts import Facts, open_facts
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home
from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.graph.fact_questions import FactQuestion, read_fact_questions
from qa_lab.evaluate.report import Row

TASK = "facts"
MEASURE = "accuracy"
_TOLD = 50  # questions between two reports of progress


def evaluate_facts(
    data: Path, *, limit: int | None = None, home: Path | None = None, progress: Progress = silent
) -> list[Row]:
    """A row for all questions; of SimpleQuestions one more for those whose very fact is in the graph.

    Args:
        data: JSON lines with question and answers, or SimpleQuestions as published.
        limit: lines that are read.
        home: whose graph and `[facts]` configuration it is, by default those of the environment; it is only read.

    Raises:
        TrainingDataError: a line is malformed, or no question is about the graph.
        FactsError: there is no graph, or what the configuration names cannot be read.
    """
    with ExitStack() as held:
        opened = Home.open(home)
        facts = open_facts(opened, load_config(opened.path), held)
        questions = read_fact_questions(data, facts.lookup, limit=limit)
        rows = [("all", measured(facts, questions, progress), len(questions))]
        exact = [question for question in questions if question.fact]
        if exact:
            rows.append(("fact in the graph", measured(facts, exact, progress), len(exact)))
    return [Row(TASK, data.name, "", name, "", size, scores) for name, scores, size in rows]


def measured(facts: Facts, questions: Sequence[FactQuestion], progress: Progress = silent) -> dict[str, Score]:
    """See the head of this file."""
    right: dict[str, float] = {}
    answered: dict[str, float] = {}
    given: dict[str, float] = {}
    abstained: dict[str, float] = {}
    seconds = []
    for done, asked in enumerate(questions, start=1):
        began = time.perf_counter()
        found = facts.find(asked.question)
        seconds.append(time.perf_counter() - began)
        interpretations, key = found.parsed.interpretations, str(asked.number)
        correct = bool(interpretations) and asked.right(interpretations[0].interpretation, facts.lookup)
        if asked.answerable:
            right[key], answered[key] = float(correct), float(found.accepted)
        else:
            abstained[key] = float(not found.accepted)
        if found.accepted:
            given[key] = float(correct)
        if done % _TOLD == 0:
            progress("asked", done)
    told = {MEASURE: right, "answered": answered, "precision": given, "abstained": abstained}
    times = dict(zip(("p50_ms", "p99_ms"), np.percentile(1e3 * np.array(seconds), (50, 99)).tolist(), strict=True))
    return {name: Score.of(each) if each else _figure(float("nan")) for name, each in told.items()} | {
        name: _figure(value) for name, value in times.items()
    }


def _figure(value: float) -> Score:
    """One that is no mean over questions."""
    return Score(value, float("nan"), {})
