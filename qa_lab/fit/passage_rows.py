"""Rows to fit the confidence of ranked passages to: the development collections, asked without refusal.

Every question is asked again with the documents hidden that answer it: then the best passage that is left is wrong,
unless another document answers, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qa_bot.answering.ask import Ask
from qa_bot.answering.confidence.calibration import Features
from qa_bot.bot import Bot
from qa_bot.home.config import load_config
from qa_bot.home.index import Index
from qa_bot.home.starter import COLLECTION as STARTER_FILE
from qa_core.types import FloatArray, IntArray, Question
from qa_lab.evaluate.evaluation_home import evaluation_home, improve
from qa_lab.evaluate.workplace.grading import POINTS, Grade, grade, names
from qa_lab.evaluate.workplace.questions import GradedQuestion, read_questions
from qa_lab.reference.encoders import EncoderChoice
from qa_lab.reference.replies import Reply
from retrievers.engines.index import Filter, KeywordQuery, View
from retrievers.hits import Hits

WORKPLACE = ("company", "18f")
REPOSITORY = ("manual", "german", "notes", "forum", "faq", "everyday")
COLLECTIONS_FOLDER = Path(__file__).parents[2] / "benchmarks" / "collections"
GOOD = {"3", "2"}
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """An answered question: `refused` are the points of a refusal, `hidden` says that its documents were hidden."""

    collection: str
    group: str
    features: Features
    grade: Grade
    refused: float
    dialogue: bool = False
    hidden: bool = False

    @property
    def right(self) -> bool:
        return self.grade in GOOD

    @property
    def points(self) -> float:
        return POINTS[self.grade]


@dataclass(frozen=True, slots=True)
class DevelopmentCollection:
    name: str
    documents: Path
    questions: Path
    dialogues: Path


def every_collection() -> list[str]:
    """The names of all in `benchmarks/collections` that have questions, also of those that decided nothing so far."""
    return sorted(path.parent.name for path in COLLECTIONS_FOLDER.glob("*/questions.jsonl"))


def collections(names: Sequence[str] = REPOSITORY) -> Iterator[DevelopmentCollection]:
    """Those of `$QA_BOT_DATA/workplace`, and these of `benchmarks/collections`."""
    data = Path(os.environ["QA_BOT_DATA"]) / "workplace"
    for name in WORKPLACE:
        yield DevelopmentCollection(
            name, data / name, data / f"{name}.questions.jsonl", data / f"{name}.dialogues.jsonl"
        )
    for name in names:
        folder = COLLECTIONS_FOLDER / name
        documents = STARTER_FILE if name == "everyday" else folder / "documents"
        yield DevelopmentCollection(name, documents, folder / "questions.jsonl", folder / "dialogues.jsonl")


def rows_of(
    collection: DevelopmentCollection, choice: EncoderChoice, flags: Mapping[str, Any], *, improved: bool = False
) -> Iterator[Row]:
    """A row for each question, each turn of a dialogue, and each question with its documents hidden.

    Args:
        choice: the encoder of the index.
        improved: search the better vectors of the starter.
        flags: configuration of the bot; another `dense.encoder` than that of the index leaves keywords alone.
    """
    opening = evaluation_home(
        [collection.documents], collection=collection.name, encoders=[choice.configured], flags=choice.flags
    )
    always = {**choice.flags, **flags, "answer.precision": 0.0}
    with ExitStack() as stack:
        held = stack.enter_context(opening)
        if improved:
            improve(held.home, load_config(held.home.path, flags=choice.flags))
        bot = stack.enter_context(Bot.open(held.home.path, flags=always, record=False))
        for question in read_questions(collection.questions):
            row = _row(bot, collection.name, question)
            yield row
            corridor, whole = bot.corridor(), bot.corridor().index
            assert isinstance(whole, Index)
            hidden = _documents_of(bot, question, include_first=row.right)
            if len(hidden):
                corridor.index = HiddenDocuments(whole, hidden)
                yield _row(bot, collection.name, question, hidden=True)
                corridor.index = whole
        if collection.dialogues.exists():
            for turn in read_questions(collection.dialogues):
                yield _row(bot, collection.name, turn)


def _row(bot: Bot, collection: str, question: GradedQuestion, *, hidden: bool = False) -> Row:
    turn = question.turn
    ask = Ask(Question(turn.question, turn.body), conversation=turn.dialogue or None, trace=True)
    answer = bot.ask(ask, deadline=PATIENCE)
    reply = Reply(bool(answer.text), answer.text, tuple(source.document for source in answer.sources))
    features: Features = dict((answer.trace or {}).get("confidence", {}))  # type: ignore[call-overload]
    refused = 0.0 if question.gold else 1.0
    group = f"{collection} {turn.dialogue or question.id}"
    return Row(collection, group, features, grade(question, reply), refused, bool(turn.dialogue), hidden)


def _documents_of(bot: Bot, question: GradedQuestion, *, include_first: bool) -> IntArray:
    """Keys (n,) of the documents that answer a question; none for a question without answer.

    Args:
        include_first: the first document answers, too.
    """
    if not question.gold:
        return np.zeros(0, np.int64)
    first = [c.passage.source.document for c in bot.search(question.turn.question, top=1)] if include_first else []
    return np.array(
        [
            document.key
            for document in bot.store.stream_documents()
            if document.external_id in {*first, *question.documents}
            or any(names(path, document.external_id) for path in question.documents)
        ],
        np.int64,
    )


class HiddenDocuments(Index):
    """An index in which some documents are not found."""

    def __init__(self, index: Index, hidden: IntArray) -> None:
        """`hidden` are keys of documents, (n,)."""
        self.__dict__.update(index.__dict__)
        self._hidden = hidden

    def keyword_hits(self, query: KeywordQuery, k: int, only: Filter | None = None) -> Hits:
        return self._without(super().keyword_hits(query, k, only))

    def dense_hits(self, view: View, queries: FloatArray, k: int, only: Filter | None = None) -> list[Hits]:
        return [self._without(hits) for hits in super().dense_hits(view, queries, k, only)]

    def unit_hits(self, query: FloatArray, k: int, only: Filter | None = None) -> Hits:
        return self._without(super().unit_hits(query, k, only))

    def passages_of(self, documents: IntArray) -> tuple[IntArray, IntArray]:
        return super().passages_of(documents[~np.isin(documents, self._hidden)])

    def _without(self, hits: Hits) -> Hits:
        return hits.at(~np.isin(hits.documents, self._hidden))


def by_collection(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows by the name of their collection."""
    named: dict[str, list[Row]] = {}
    for row in rows:
        named.setdefault(row.collection, []).append(row)
    return named
