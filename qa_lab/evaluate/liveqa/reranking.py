"""`eval liveqa --model`: the same candidates in the order of each ranker alone, and of a learned fusion of all.

Candidates are the documents that the pipeline puts in order. Bounds are their best and their worst order by grade; the
fusion is cross-validated over the questions, so that every one of them is ranked by trees that did not see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from qa_bot.answering.models.ranker_loading import open_rankers
from qa_core.measures.metrics import Score, liveqa
from qa_core.measures.runs import rankings
from qa_core.types import FloatArray
from qa_lab.evaluate.datasets import Dataset
from qa_lab.evaluate.evaluation_home import Flags, Progress, indexed, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.retrieval import judged
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.fusion_data import UNJUDGED, FusionTrainingData, of_judgements
from rankers.fusion import FusionConfig, cross_validated

TASK = "liveqa, re-ranked"
FOLDS = 10
COMPARED_BY = "nDCG@10"
STAGES = ("evidence", "clue", "title_similarity", "passage_similarity", "bm25")
"""Of the pipeline, that have a row of their own beside the rankers."""
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
    """The pipeline's own order first, then each stage and ranker, the fusion, and the bounds.

    Args:
        models: folders of trained rankers.
        encoders: names; the first is the one asked.
        flags: configuration by `section.key`; `ranking.depth` says how many documents are put in order.

    Raises:
        DatasetError: nothing of the data could be added.
        RankerError: a model cannot be opened.
    """
    rankers = open_rankers(",".join(map(str, models)))
    given = indexed(
        [dataset.corpus],
        collection=dataset.name,
        judged=judged(dataset),
        home=home,
        encoders=encoders[:1],
        flags=flags,
        progress=progress,
    )
    with given as data, data.opened(encoder=next(iter(encoders), None)) as bot:
        corridor, depth, encoder = bot.corridor(), bot.config.ranking.depth, bot.config.dense.encoder
        lessons = of_judgements(
            [query.question for query in dataset.queries],
            dataset.qrels,
            lambda question, wanted: rank(corridor, question, engine="hybrid", depth=wanted).candidates,
            depth=depth,
            weight=UNJUDGED,
            models=[ranker.within(depth) for ranker in rankers],
            on_progress=progress,
        )
    names = [ranker.name for ranker in rankers]
    size = len(dataset.queries)
    rows = [
        Row(TASK, dataset.name, dataset.split, name, encoder, size, measured(lessons, scores))
        for name, scores in _orders(lessons, names)
    ]
    return compared(rows, COMPARED_BY)


def measured(lessons: FusionTrainingData, scores: FloatArray) -> dict[str, Score]:
    """Measures of the LiveQA tasks (thesis, ch. 7); AP@2+ counts documents of judgement 2 of 1–4, or better."""
    found = lessons.measured(scores, ("nDCG@10",))
    for grade in (1, 2, 3):
        for name, score in lessons.measured(scores, ("AP", "RR"), relevant=grade).items():
            found[f"{name}@{grade + 1}+"] = score
    first = liveqa(lessons.qrels, rankings(lessons.run(scores)))
    return found | {name: first[name] for name in FIRST}


def _orders(lessons: FusionTrainingData, models: Sequence[str]) -> Iterator[tuple[str, FloatArray]]:
    scores = lessons.scores
    yield "pipeline", scores.only(["combined"]).table[:, 0]
    for name in (*STAGES, *models):
        yield name, scores.only([name]).table[:, 0]
    yield (
        "fusion",
        cross_validated(scores, lessons.grades, weights=lessons.weights, folds=FOLDS, config=FusionConfig()),
    )
    grades = lessons.grades.astype(np.float32)
    yield "upper bound", grades
    yield "lower bound", -grades
