"""What a fusion learns from: the scores of every stage for the candidates of questions, and how good each of them is.

Three kinds of examples: questions with labelled answers, a judged collection, and the votes that people gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.runs import Qrels
from qa_core.types import Candidate, Encoder, FloatArray, Question
from rankers.answer_selection.keyword_features import FEATURES, Keywords
from rankers.fusion import Scores, joined, pair_scores, scores_of, together
from rankers.neural import NeuralRanker, asked
from rankers.training.answer_pool import AnswerSet

UNJUDGED = 0.4
"""How much a document counts, as a wrong one, that nobody judged: some of them are right (measured on LiveQA-Med)."""
OnProgress = Callable[[str, int], None]
"""Receives the stage and the number of questions done."""


class Ranked(Protocol):
    """The candidates that a pipeline has for a question."""

    def __call__(self, question: Question, depth: int) -> Sequence[Candidate]: ...


@dataclass(frozen=True)
class FusionTrainingData:
    scores: Scores
    grades: NDArray[np.float64]  # (N,), NaN where nobody said
    candidates: tuple[str, ...]  # (N,), ids that differ within a question
    qrels: Qrels  # by the number of the question
    keywords: Keywords | None = None
    weights: NDArray[np.float64] | None = None  # (N,), how much a candidate counts; None: all the same

    @cached_property
    def questions(self) -> int:
        return len(np.unique(self.scores.question))

    def run(self, scores: FloatArray) -> dict[str, dict[str, float]]:
        """The candidates of each question with some scores (N,); one without any is last."""
        lowest = float(np.nanmin(scores, initial=0.0)) - 1.0
        run: dict[str, dict[str, float]] = {query: {} for query in self.qrels}
        places = zip(self.scores.question.tolist(), self.candidates, scores.tolist(), strict=True)
        for question, candidate, score in places:
            run[str(question)][candidate] = lowest if np.isnan(score) else score
        return run

    def measured(self, scores: FloatArray, measures: Sequence[str], *, relevant: int = 1) -> dict[str, Score]:
        """Of the candidates in the order of some scores (N,)."""
        return evaluate(self.qrels, self.run(scores), measures, relevant=relevant)


def of_answers(
    sets: Sequence[AnswerSet],
    *,
    models: Sequence[NeuralRanker] = (),
    encoder: Encoder | None = None,
    keywords: Keywords | None = None,
) -> FusionTrainingData:
    """Of questions with labelled answers: keyword features, the encoder's cosine, and the scores of models."""
    pairs = [(each.question, answer) for each in sets for answer in each.answers]
    question = np.repeat(np.arange(len(sets)), [len(each.answers) for each in sets])
    scores = pair_scores(pairs, question, keywords, encoder.encode if encoder else None, models)
    labels = np.array([label for each in sets for label in each.labels], dtype=np.float64)
    ids = tuple(str(place) for each in sets for place in range(len(each.answers)))
    qrels: dict[str, dict[str, int]] = {str(number): {} for number in range(len(sets))}
    for number, candidate, label in zip(question.tolist(), ids, labels.tolist(), strict=True):
        qrels[str(number)][candidate] = int(label)
    return FusionTrainingData(scores, labels, ids, qrels, keywords)


def of_judgements(
    questions: Sequence[Question],
    qrels: Qrels,
    ranked: Ranked,
    *,
    depth: int,
    unjudged: float = 0.0,
    weight: float = 1.0,
    models: Sequence[NeuralRanker] = (),
    keywords: bool = True,
    on_progress: OnProgress = lambda _stage, _done: None,
) -> FusionTrainingData:
    """Of questions that a pipeline was asked: its scores for documents, and those of further models.

    Args:
        qrels: grades of documents by the id of the question.
        ranked: the pipeline's candidates.
        depth: candidates of a question.
        unjudged: the grade of a document that nobody judged; NaN leaves it out.
        weight: how much such a document counts.
    """
    found: list[tuple[Question, Sequence[Candidate]]] = []
    for done, question in enumerate(questions, start=1):
        found.append((question, ranked(question, depth)[:depth]))
        on_progress("asked", done)
    counted = Keywords.of([c.passage.text for _, candidates in found for c in candidates]) if keywords else None
    rows, grades, weights, ids = [], [], [], []
    for done, (question, candidates) in enumerate(found, start=1):
        rows.append(_features(question, candidates, models, counted))
        documents = [each.passage.source.document for each in candidates]
        judged = qrels.get(question.id, {})
        grades += [float(judged.get(document, unjudged)) for document in documents]
        weights += [1.0 if document in judged else weight for document in documents]
        ids += documents
        on_progress("scored", done)
    numbered = {str(number): qrels.get(question.id, {}) for number, question in enumerate(questions)}
    raised = np.maximum(np.array(grades), 0.0)
    return FusionTrainingData(together(rows), raised, tuple(ids), numbered, counted, np.array(weights))


def _features(
    question: Question, candidates: Sequence[Candidate], models: Sequence[NeuralRanker], keywords: Keywords | None
) -> Scores:
    scored: Mapping[str, dict[str, float]] = {each.passage.id: each.signals.by_name() for each in candidates}
    for model in models:
        for each in model.rank(question, candidates):
            if model.name in each.signals.rankers:
                scored[each.passage.id][model.name] = each.signals.rankers[model.name]
    scores = scores_of(list(scored.values()))
    if keywords is None or not candidates:
        return scores
    pairs = [(asked(question), each.passage.text) for each in candidates]
    return joined(scores, keywords.features(pairs), FEATURES)


def single_feature_scores(lessons: FusionTrainingData) -> Iterator[tuple[str, FloatArray]]:
    """Every score alone that orders candidates: the higher the better."""
    counts = ("question_words", "answer_words", "asked")
    for place, name in enumerate(lessons.scores.names):
        if name not in counts:
            yield name, lessons.scores.table[:, place]


def names_of(paths: Iterable[Path]) -> str:
    return ", ".join(path.name for path in paths)
