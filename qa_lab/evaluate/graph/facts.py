"""`eval facts`: measures answers to questions about single facts of the home's graph.

accuracy             share of the answerable questions whose best interpretation has exactly the right answers
answered             share of the answerable questions with an answer at the required precision
precision            share of right answers; any answer to an unanswerable question is wrong
abstained            share of the unanswerable questions without an answer
p50_ms, p99_ms       time from question to answer, one question at a time
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
from qa_lab.evaluate.graph.linking import single_value
from qa_lab.evaluate.report import Row

TASK = "facts"
MEASURE = "accuracy"
_REPORT_EVERY = 50  # questions between two reports of progress


def evaluate_facts(
    data: Path, *, limit: int | None = None, home: Path | None = None, progress: Progress = silent
) -> list[Row]:
    """A row for all questions, and for SimpleQuestions a row for those whose fact is in the graph.

    Args:
        data: JSON lines with question and answers, or SimpleQuestions as published.
        limit: largest number of questions about the graph.
        home: the home with the graph and `[facts]` configuration, by default that of the environment.

    Raises:
        TrainingDataError: a line is malformed, or no question is about the graph.
        FactsError: there is no graph, or a configured table or scorer cannot be read.
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
    """The measures of the module's docstring."""
    right: dict[str, float] = {}
    answered: dict[str, float] = {}
    precision: dict[str, float] = {}
    abstained: dict[str, float] = {}
    seconds = []
    for done, question in enumerate(questions, start=1):
        began = time.perf_counter()
        result = facts.find(question.question)
        seconds.append(time.perf_counter() - began)
        interpretations, key = result.parsed.interpretations, str(question.number)
        correct = bool(interpretations) and question.right(interpretations[0].interpretation, facts.lookup)
        if question.answerable:
            right[key], answered[key] = float(correct), float(result.accepted)
        else:
            abstained[key] = float(not result.accepted)
        if result.accepted:
            precision[key] = float(correct)
        if done % _REPORT_EVERY == 0:
            progress("asked", done)
    measures = {MEASURE: right, "answered": answered, "precision": precision, "abstained": abstained}
    times = dict(zip(("p50_ms", "p99_ms"), np.percentile(1e3 * np.array(seconds), (50, 99)).tolist(), strict=True))
    scores = {name: Score.of(by_question) for name, by_question in measures.items()}
    return scores | {name: single_value(value) for name, value in times.items()}
