"""`eval liveqa --model`: the same candidates ranked by each ranker alone, and by a learned fusion of all.

The candidates are the documents that the corridor ranks. The bounds are their best and worst order by grade. The fusion
is cross-validated over the questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from qa_bot.answering.models.ranker_loading import open_rankers
from qa_core.measures.metrics import Score, liveqa
from qa_core.measures.runs import rankings
from qa_core.types import FloatArray
from qa_lab.data.fusion_data import UNJUDGED, FusionTrainingData, of_judgements
from qa_lab.evaluate.datasets import Dataset
from qa_lab.evaluate.evaluation_home import Flags, Progress, evaluation_home, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.retrieval import judged
from qa_lab.evaluate.systems import rank
from rankers.fusion import FusionConfig, cross_validated

TASK = "liveqa, re-ranked"
FOLDS = 10
COMPARED_BY = "nDCG@10"
STAGES = ("evidence", "clue", "title_similarity", "passage_similarity", "bm25")
"""Stages of the corridor with a row each."""
FIRST = ("avg_score", "avg_score_condensed")


def evaluate_reranking(
    dataset: Dataset,
    *,
    models: Sequence[Path],
    encoders: Sequence[str] = (),
    home: Path | None = None,
    flags: Flags | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """Rows for the order of the corridor, each stage and ranker, the fusion, and the bounds.

    Args:
        models: folders of trained rankers.
        encoders: names; the first is used.
        flags: configuration by `section.key`; `ranking.depth` is the number of documents to rank.

    Raises:
        DatasetError: if no document could be added.
        RankerError: if a model cannot be opened.
    """
    rankers = open_rankers(",".join(map(str, models)))
    opening = evaluation_home(
        [dataset.corpus],
        collection=dataset.name,
        judged=judged(dataset),
        home=home,
        encoders=encoders[:1],
        flags=flags,
        progress=progress,
    )
    with opening as data, data.opened(encoder=next(iter(encoders), None)) as bot:
        corridor, depth, encoder = bot.corridor(), bot.config.ranking.depth, bot.config.dense.encoder
        pool = of_judgements(
            [query.question for query in dataset.queries],
            dataset.qrels,
            lambda question, limit: rank(corridor, question, engine="hybrid", depth=limit).candidates,
            depth=depth,
            weight=UNJUDGED,
            models=[ranker.within(depth) for ranker in rankers],
            on_progress=progress,
        )
    names = [ranker.name for ranker in rankers]
    size = len(dataset.queries)
    rows = [
        Row(TASK, dataset.name, dataset.split, name, encoder, size, measured(pool, scores))
        for name, scores in _orders(pool, names)
    ]
    return compared(rows, COMPARED_BY)


def measured(pool: FusionTrainingData, scores: FloatArray) -> dict[str, Score]:
    """Measures of the LiveQA tasks (Wang 2018, ch. 7); AP@2+ counts documents of judgement 2 of 1–4 or better."""
    measures = pool.measured(scores, ("nDCG@10",))
    for grade in (1, 2, 3):
        for name, score in pool.measured(scores, ("AP", "RR"), relevant=grade).items():
            measures[f"{name}@{grade + 1}+"] = score
    first = liveqa(pool.qrels, rankings(pool.run(scores)))
    return measures | {name: first[name] for name in FIRST}


def _orders(pool: FusionTrainingData, models: Sequence[str]) -> Iterator[tuple[str, FloatArray]]:
    scores = pool.scores
    yield "pipeline", scores.select(["combined"]).table[:, 0]
    for name in (*STAGES, *models):
        yield name, scores.select([name]).table[:, 0]
    yield (
        "fusion",
        cross_validated(scores, pool.grades, weights=pool.weights, folds=FOLDS, config=FusionConfig()),
    )
    grades = pool.grades.astype(np.float32)
    yield "upper bound", grades
    yield "lower bound", -grades
