"""`eval liveqa`: title and body of real questions through the whole corridor (Wang 2018, chapter 7).

Lists are measured to depth 1000 before tiling, regardless of abstention. First documents (`avg_score`, `succ@i+`, …)
are those of `qa-bot ask`, which ranks fewer documents and may withhold its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from qa_bot.answering.scope import Scope
from qa_bot.answering.stages.retrieve import SearchMode
from qa_core.measures.metrics import Score, evaluate, liveqa
from qa_core.measures.runs import Qrels, run_of
from qa_core.types import Question
from qa_lab.evaluate.datasets import Dataset, DatasetError, Query
from qa_lab.evaluate.evaluation_home import Flags, Progress, SystemUnderTest, evaluation_home, expect_judged, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.retrieval import judged, write_runs
from qa_lab.evaluate.systems import DEPTH, documents, rank

TASK = "liveqa"
ENGINES: tuple[SearchMode, ...] = ("hybrid", "keyword", "dense")
LIST_MEASURES = ("nDCG@10", "AP", "RR", "R@100", "R@1000")
COMPARED_BY = "nDCG@10"
QUESTION, SUMMARY = "", "summary"


@dataclass(slots=True)
class Replies:
    """Documents of each question to depth 1000, those that `ask` ranks, and the questions with a withheld answer."""

    ranked: dict[str, list[str]] = field(default_factory=dict)
    served: dict[str, list[str]] = field(default_factory=dict)
    abstained: set[str] = field(default_factory=set)


def evaluate_liveqa(
    dataset: Dataset,
    *,
    engines: Sequence[SearchMode] = ENGINES,
    encoders: Sequence[str] = (),
    summary: bool = False,
    home: Path | None = None,
    flags: Flags | None = None,
    relevant: int = 1,
    run: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each engine (and encoder, if it uses one), compared with the first by nDCG@10.

    Args:
        encoders: names; by default the configured one.
        summary: add rows with the annotator's summary as the question.
        home: home to use instead of a temporary one.
        flags: configuration by `section.key`; `serve.liveqa_precision` controls abstention.
        relevant: lowest grade that AP, RR and recall count as relevant.
        run: write the ranked documents as a TREC run; several rows have a file each.

    Raises:
        DatasetError: if no document could be added, if the home has no relevant document, or summaries are missing.
    """
    if summary:
        _check_summaries(dataset)
    queries = (QUESTION, SUMMARY) if summary else (QUESTION,)
    rows: list[Row] = []
    replies: list[Replies] = []
    opening = evaluation_home(
        [dataset.corpus],
        collection=dataset.name,
        judged=judged(dataset),
        home=home,
        encoders=encoders,
        flags=flags,
        progress=progress,
    )
    with opening as data:
        expect_judged(data, dataset, relevant=relevant)
        for tested in data.systems(engines, encoders, calibrated=True):
            for query in queries:
                replies.append(_replies(tested, dataset, query, progress))
                measured = scores(dataset.qrels, replies[-1], relevant)
                rows.append(_row(tested, dataset, query, measured))
    if run is not None:
        write_runs(run, rows, [reply.ranked for reply in replies])
    return compared(rows, COMPARED_BY)


def scores(qrels: Qrels, replies: Replies, relevant: int = 1) -> dict[str, Score]:
    """Every measure of the task; `answered` is the share of questions that got an answer."""
    answered = {query: float(bool(replies.served.get(query)) and query not in replies.abstained) for query in qrels}
    return {
        **liveqa(qrels, replies.served, abstained=replies.abstained),
        **evaluate(qrels, run_of(replies.ranked), LIST_MEASURES, relevant=relevant),
        "answered": Score.of(answered),
    }


def _replies(tested: SystemUnderTest, dataset: Dataset, query: str, progress: Progress) -> Replies:
    bot, engine, _ = tested
    assert engine != "plain", "only engines of the corridor answer"
    corridor = bot.corridor()
    replies = Replies()
    for done, entry in enumerate(dataset.queries, start=1):
        question = _question(entry, query)
        scope = Scope(leave_out=question.id)
        replies.ranked[question.id] = documents(rank(corridor, question, engine=engine, depth=DEPTH, scope=scope))
        served = rank(corridor, question, engine=engine, verify=True, scope=scope)
        replies.served[question.id] = documents(served)
        if not corridor.decide(served, bot.config.serve.liveqa_precision).accepted:
            replies.abstained.add(question.id)
        progress(f"asked of {engine}", done)
    return replies


def _row(tested: SystemUnderTest, dataset: Dataset, query: str, measured: dict[str, Score]) -> Row:
    size = len(dataset.queries)
    return Row(TASK, dataset.name, dataset.split, tested.system, tested.encoder, size, measured, query)


def _question(query: Query, field: str) -> Question:
    return replace(query.question, title=query.summary, body="") if field == SUMMARY else query.question


def _check_summaries(dataset: Dataset) -> None:
    missing = [query.question.id for query in dataset.queries if not query.summary]
    if missing:
        raise DatasetError(
            f"Expected a summary of every query, but got none for {len(missing)} (such as {missing[0]!r}); "
            "leave --summary out."
        )
