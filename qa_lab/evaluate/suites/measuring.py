"""Measures one configuration on one collection with the evaluation that its kind names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from qa_bot.home.folder import Home, HomeError
from qa_core.measures.metrics import avg_score, evaluate
from qa_core.measures.runs import Qrels, run_of
from qa_core.types import Question
from qa_lab.evaluate.datasets import Dataset, DatasetError, read_dataset
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.known_item import QUESTIONS, evaluate_known_item
from qa_lab.evaluate.report import Row
from qa_lab.evaluate.retrieval import evaluate_retrieval
from qa_lab.evaluate.suites.parts import PARTS, left_out
from qa_lab.evaluate.suites.suite import Collection, Configuration, Kind
from qa_lab.evaluate.systems import DEPTH, PASSAGES
from qa_lab.evaluate.workplace.evaluation import evaluate_workplace
from qa_lab.evaluate.workplace.pipelines import DEFAULT, reference
from qa_lab.reference.encoders import EncoderChoice, choose
from qa_lab.reference.replies import Pipeline, Turn

PerQuery = Mapping[str, Mapping[str, float]]
"""Measure → question → value."""


class Request(NamedTuple):
    collection: Collection
    configuration: Configuration
    choice: EncoderChoice
    limit: int | None
    progress: Progress

    @property
    def flags(self) -> dict[str, object]:
        return {**self.choice.flags, **self.configuration.config}


def measured(
    collection: Collection, configuration: Configuration, *, limit: int | None = None, progress: Progress = silent
) -> PerQuery | None:
    """The values of every measure of the collection's kind; None if the engine cannot do this task.

    Args:
        limit: largest number of questions; the collection may name a smaller one.

    Raises:
        ValueError: for unsuitable data (DatasetError) or encoders (EncoderError).
    """
    choice = choose(configuration.encoder)
    smallest = min((most for most in (collection.limit, limit) if most is not None), default=None)
    request = Request(collection, configuration, choice, smallest, progress)
    with left_out(PARTS[configuration.without]) if configuration.without else nullcontext():
        if collection.kind == "workplace":
            return _workplace(request)
        if configuration.engine == DEFAULT:
            return PRODUCT[collection.kind](request)
        return _by_reference(request) if collection.kind in RANKED else None


def _workplace(request: Request) -> PerQuery:
    """`score`, and the share of answers with nothing right in them."""
    collection, configuration = request.collection, request.configuration
    assert collection.questions is not None, "checked when the suite was read"
    (result,) = evaluate_workplace(
        collection.data,
        collection.questions,
        engines=[configuration.engine],
        encoders=[configuration.encoder],
        flags=configuration.config,
        limit=request.limit,
        progress=request.progress,
    )
    wrong = {of.question.id: float(of.grade == "0") for of in result.replies}
    return {"score": result.score.per_query, "wrong": wrong}


def _liveqa(request: Request) -> PerQuery:
    from qa_lab.evaluate.liveqa.liveqa import evaluate_liveqa

    (row,) = evaluate_liveqa(
        _dataset(request),
        engines=["hybrid"],
        encoders=[request.choice.configured],
        flags=request.flags,
        progress=request.progress,
    )
    return _of_row(row, ("nDCG@10", "avg_score"))


def _retrieval(request: Request) -> PerQuery:
    (row,) = evaluate_retrieval(
        _dataset(request),
        engines=["hybrid"],
        encoders=[request.choice.configured],
        flags=request.flags,
        progress=request.progress,
    )
    return _of_row(row, ("AP", "nDCG@10"))


def _known_item(request: Request) -> PerQuery:
    (row,) = evaluate_known_item(
        request.collection.data,
        engines=["hybrid"],
        encoders=[request.choice.configured],
        flags=request.flags,
        limit=request.limit or QUESTIONS,
        progress=request.progress,
    )
    return _of_row(row, ("RR", "P@1"))


def _answers(request: Request) -> PerQuery:
    from qa_lab.evaluate.answers import evaluate_answers

    rows = evaluate_answers(
        request.collection.data,
        encoders=[request.choice.configured],
        limit=request.limit,
        home=_models_home(),
        progress=request.progress,
    )
    return _of_row(_of_encoder(rows), ("AP", "RR"))


def _paraphrase(request: Request) -> PerQuery:
    from qa_lab.evaluate.words.paraphrase import evaluate_paraphrase

    rows = evaluate_paraphrase(
        request.collection.data,
        encoders=[request.choice.configured],
        limit=request.limit,
        home=_models_home(),
        progress=request.progress,
    )
    return _of_row(_of_encoder(rows), ("accuracy",))


def _rewrite(request: Request) -> PerQuery:
    from qa_lab.evaluate.followups.rewrite import evaluate_rewrite

    rows = evaluate_rewrite(
        request.collection.data, limit=request.limit, flags=request.flags, progress=request.progress
    )
    values: dict[str, float] = {}
    for row in rows:
        if row.engine == "rewritten":
            values |= {f"{row.data}/{query}": value for query, value in row.scores["F1"].per_query.items()}
    return {"F1": values}


PRODUCT: Mapping[Kind, Callable[[Request], PerQuery]] = {
    "liveqa": _liveqa,
    "retrieval": _retrieval,
    "known-item": _known_item,
    "answers": _answers,
    "paraphrase": _paraphrase,
    "rewrite": _rewrite,
}
RANKED: tuple[Kind, ...] = ("liveqa", "retrieval")
"""Kinds that reference pipelines rank documents for."""


def _by_reference(request: Request) -> PerQuery:
    """A document's rank is that of its best passage."""
    dataset = _dataset(request)
    pipeline = reference(request.configuration.engine, dataset.corpus, request.choice)
    ranked: dict[str, list[str]] = {}
    abstained: set[str] = set()
    for done, query in enumerate(dataset.queries, start=1):
        turn = _turn(query.question)
        ranked[query.question.id] = _documents(pipeline, turn)
        if request.collection.kind == "liveqa" and not pipeline.reply(turn).answered:
            abstained.add(query.question.id)
        request.progress(f"asked of {request.configuration.name}", done)
    if request.collection.kind == "liveqa":
        return _graded(dataset.qrels, ranked, abstained)
    scores = evaluate(dataset.qrels, run_of(ranked), ("AP", "nDCG@10"))
    return {name: score.per_query for name, score in scores.items()}


def _graded(qrels: Qrels, ranked: Mapping[str, Sequence[str]], abstained: Iterable[str]) -> PerQuery:
    answered = {query: documents for query, documents in ranked.items() if query not in set(abstained)}
    scores = {**evaluate(qrels, run_of(ranked), ("nDCG@10",)), "avg_score": avg_score(qrels, answered)}
    return {name: score.per_query for name, score in scores.items()}


def _documents(pipeline: Pipeline, turn: Turn) -> list[str]:
    passages = pipeline.ranked(turn, PASSAGES * DEPTH)
    return list(dict.fromkeys(extract.document for extract in passages))[:DEPTH]


def _turn(question: Question) -> Turn:
    return Turn(question.title, body=question.body)


def _dataset(request: Request) -> Dataset:
    return read_dataset(request.collection.data, split=request.collection.split, limit=request.limit)


def _of_row(row: Row, measures: Sequence[str]) -> PerQuery:
    return {name: row.scores[name].per_query for name in measures}


def _of_encoder(rows: Sequence[Row]) -> Row:
    """The row of the encoder's cosine among baselines."""
    for row in rows:
        if row.encoder:
            return row
    raise DatasetError(f"Expected a row of an encoder, but got {[row.engine for row in rows]}.")


def _models_home() -> Path | None:
    """The user's home, for its fetched encoders."""
    with suppress(HomeError):
        return Home.open().path
    return None
