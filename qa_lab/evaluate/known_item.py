"""`eval known-item`: the rank of a document for its own title (Wang 2018, section 7.3).

Titles that are unique in the collection are drawn with a seed and used as queries. `plain` is the raw title as a BM25
query over title and text; the other rows formulate, fuse and rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from qa_bot.bot import Bot
from qa_bot.home.store import StoredDocument
from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.runs import run_of
from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Flags, Progress, evaluation_home, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.systems import System, searcher

TASK = "known-item"
SYSTEMS: tuple[System, ...] = ("plain", "keyword", "dense", "hybrid")
MEASURES = ("R@100", "P@1", "RR")
DEPTH = 100
QUESTIONS = 1000
SEED = 7
COMPARED_BY = "RR"


def evaluate_known_item(
    data: Path,
    *,
    engines: Sequence[System] = SYSTEMS,
    encoders: Sequence[str] = (),
    limit: int = QUESTIONS,
    seed: int = SEED,
    home: Path | None = None,
    flags: Flags | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each engine (and encoder, if it uses one), compared with the first by reciprocal rank.

    Args:
        data: input of `qa-bot add`, or the folder of a home, which is used unchanged.
        limit: number of questions to draw.
        home: a home to use instead of a temporary one; the data is added if it has no documents.

    Raises:
        DatasetError: if no document has a unique title.
    """
    if not data.exists():
        raise DatasetError(f"Expected a file or a folder, but got {data}, which does not exist; name it with --data.")
    if _is_home(data):
        home = data
    rows: list[Row] = []
    opening = evaluation_home(
        [data], collection=data.stem, home=home, encoders=encoders, flags=flags, progress=progress
    )
    questions: list[Question] = []
    with opening as held:
        for bot, engine, encoder in held.systems(engines, encoders):
            questions = questions or drawn(bot.store.stream_documents(), limit, seed=seed)
            measured = _measured(bot, engine, questions, progress)
            rows.append(Row(TASK, data.name, "", engine, encoder, len(questions), measured))
    return compared(rows, COMPARED_BY)


def drawn(documents: Iterable[StoredDocument], count: int, *, seed: int) -> list[Question]:
    """Unique titles as questions with the id of their document, in the order of the collection.

    Raises:
        DatasetError: if there is none.
    """
    titles = [(document.title, document.external_id) for document in documents if document.title.strip()]
    counts = Counter(_folded(title) for title, _ in titles)
    unique = [Question(title, id=id_) for title, id_ in titles if counts[_folded(title)] == 1]
    if not unique:
        raise DatasetError(
            f"Expected documents with titles that differ, but got {len(titles)} titles and no unique one; "
            "known-item search needs questions or pages with titles."
        )
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(unique), size=min(count, len(unique)), replace=False)
    return [unique[i] for i in sorted(chosen)]


def _measured(bot: Bot, engine: System, questions: Sequence[Question], progress: Progress) -> dict[str, Score]:
    search = searcher(bot.corridor(), engine, depth=DEPTH)
    lists: dict[str, list[str]] = {}
    for done, question in enumerate(questions, start=1):
        lists[question.id] = search(question)
        progress(f"asked of {engine}", done)
    qrels = {question.id: {question.id: 1} for question in questions}
    return evaluate(qrels, run_of(lists), MEASURES)


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())


def _is_home(folder: Path) -> bool:
    return (folder / "index" / "CURRENT").is_file()
