"""`eval retrieval`: ranked lists of each engine against judgements.

`plain` is BM25 of every word of the query, for comparison with published figures; `keyword`, `dense` and `hybrid` are
the modes of `qa-bot search`: queries are formulated, lists fused, documents ranked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from qa_bot.bot import Bot
from qa_core.measures import metrics
from qa_core.measures.metrics import evaluate
from qa_core.measures.runs import run_of, write_run
from qa_lab.evaluate.datasets import Dataset
from qa_lab.evaluate.evaluation_home import Flags, Progress, evaluation_home, expect_judged, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.systems import System, searcher

TASK = "retrieval"
SYSTEMS: tuple[System, ...] = ("keyword", "dense", "hybrid")
COMPARED_BY = "AP"
MEASURES = (*metrics.MEASURES, "R@10")

Ranked = Mapping[str, Sequence[str]]


def evaluate_retrieval(
    dataset: Dataset,
    *,
    engines: Sequence[System] = SYSTEMS,
    encoders: Sequence[str] = (),
    home: Path | None = None,
    flags: Flags | None = None,
    relevant: int = 1,
    run: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each engine (and encoder, if it uses one), compared with the first by AP.

    Args:
        encoders: names; by default the configured one.
        home: home to use instead of a temporary one.
        flags: configuration by `section.key`.
        relevant: lowest grade that binary measures count as relevant.
        run: write the ranked documents as a TREC run; several rows have a file each.

    Raises:
        DatasetError: if no document could be added, or if the home has no relevant document.
    """
    rows: list[Row] = []
    lists: list[Ranked] = []
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
        for bot, engine, encoder in data.systems(engines, encoders):
            lists.append(dict(_lists(bot, dataset, engine, progress)))
            measured = evaluate(dataset.qrels, run_of(lists[-1]), MEASURES, relevant=relevant)
            rows.append(Row(TASK, dataset.name, dataset.split, engine, encoder, len(dataset.queries), measured))
    if run is not None:
        write_runs(run, rows, lists)
    return compared(rows, COMPARED_BY)


def judged(dataset: Dataset) -> list[str]:
    """The judged documents, each once."""
    return list(dict.fromkeys(document for grades in dataset.qrels.values() for document in grades))


def write_runs(path: Path, rows: Sequence[Row], lists: Sequence[Ranked]) -> list[Path]:
    """Write one run to `path`, or several to `NAME-ENGINE-ENCODER.SUFFIX` beside it; return the paths."""
    written = []
    for row, ranked in zip(rows, lists, strict=True):
        name = re.sub(r"[^\w.]+", "-", row.name)
        target = path if len(rows) == 1 else path.with_name(f"{path.stem}-{name}{path.suffix}")
        write_run(target, run_of(ranked), tag=f"qa-bot-{name}")
        written.append(target)
    return written


def _lists(bot: Bot, dataset: Dataset, engine: System, progress: Progress) -> Iterator[tuple[str, list[str]]]:
    search = searcher(bot.corridor(), engine)
    for done, query in enumerate(dataset.queries, start=1):
        yield query.question.id, search(query.question)
        progress(f"asked of {engine}", done)
