"""Training data of a fusion: the scores of every stage for the candidates of questions, and their grades.

It comes from questions with labelled answers, from a judged collection, or from votes of users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.runs import Qrels
from qa_core.types import Candidate, Encoder, FloatArray, Question
from rankers.answer_selection.keyword_features import FEATURES, Keywords
from rankers.fusion import Scores, concat_questions, pair_scores, scores_of, with_columns
from rankers.neural import NeuralRanker, full_question
from rankers.training.answer_pool import AnswerSet

UNJUDGED = 0.4
"""Weight of an unjudged document, as a wrong one: some of them are right (measured on LiveQA-Med)."""
OnProgress = Callable[[str, int], None]
"""Receives the stage and the number of questions done."""


class Ranked(Protocol):
    """Ranks the candidates for a question."""

    def __call__(self, question: Question, depth: int) -> Sequence[Candidate]: ...


@dataclass(frozen=True)
class FusionTrainingData:
    scores: Scores
    grades: NDArray[np.float64]  # (N,), NaN if unjudged
    candidates: tuple[str, ...]  # (N,), ids, distinct within a question
    qrels: Qrels  # by the number of the question
    keywords: Keywords | None = None
    weights: NDArray[np.float64] | None = None  # (N,); None: all equal

    @cached_property
    def questions(self) -> int:
        return len(np.unique(self.scores.question))

    def run(self, scores: FloatArray) -> dict[str, dict[str, float]]:
        """The candidates of each question with some scores (N,); a candidate without a score is last."""
        lowest = float(np.nanmin(scores, initial=0.0)) - 1.0
        run: dict[str, dict[str, float]] = {query: {} for query in self.qrels}
        rows = zip(self.scores.question.tolist(), self.candidates, scores.tolist(), strict=True)
        for question, candidate, score in rows:
            run[str(question)][candidate] = lowest if np.isnan(score) else score
        return run

    def measured(self, scores: FloatArray, measures: Sequence[str], *, relevant: int = 1) -> dict[str, Score]:
        """Measures of the ranking by some scores (N,)."""
        return evaluate(self.qrels, self.run(scores), measures, relevant=relevant)


def of_answers(
    sets: Sequence[AnswerSet],
    *,
    models: Sequence[NeuralRanker] = (),
    encoder: Encoder | None = None,
    keywords: Keywords | None = None,
) -> FusionTrainingData:
    """From questions with labelled answers: keyword features, the encoder's cosine, and the scores of models."""
    pairs = [(answers.question, answer) for answers in sets for answer in answers.answers]
    question = np.repeat(np.arange(len(sets)), [len(answers.answers) for answers in sets])
    scores = pair_scores(pairs, question, keywords, encoder.encode if encoder else None, models)
    labels = np.array([label for answers in sets for label in answers.labels], dtype=np.float64)
    ids = tuple(str(index) for answers in sets for index in range(len(answers.answers)))
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
    """From questions with ranked candidates: their signals, and the scores of further models.

    Args:
        qrels: grades of documents by the id of the question.
        ranked: ranks the candidates for a question.
        depth: candidates of a question.
        unjudged: grade of an unjudged document; NaN leaves it out.
        weight: of an unjudged document.
    """
    results: list[tuple[Question, Sequence[Candidate]]] = []
    for done, question in enumerate(questions, start=1):
        results.append((question, ranked(question, depth)[:depth]))
        on_progress("asked", done)
    counted = Keywords.of([c.passage.text for _, candidates in results for c in candidates]) if keywords else None
    rows, grades, weights, ids = [], [], [], []
    for done, (question, candidates) in enumerate(results, start=1):
        rows.append(_features(question, candidates, models, counted))
        documents = [candidate.passage.source.document for candidate in candidates]
        judged = qrels.get(question.id, {})
        grades += [float(judged.get(document, unjudged)) for document in documents]
        weights += [1.0 if document in judged else weight for document in documents]
        ids += documents
        on_progress("scored", done)
    numbered = {str(number): qrels.get(question.id, {}) for number, question in enumerate(questions)}
    raised = np.maximum(np.array(grades), 0.0)
    return FusionTrainingData(concat_questions(rows), raised, tuple(ids), numbered, counted, np.array(weights))


def _features(
    question: Question, candidates: Sequence[Candidate], models: Sequence[NeuralRanker], keywords: Keywords | None
) -> Scores:
    scored: Mapping[str, dict[str, float]] = {c.passage.id: c.signals.by_name() for c in candidates}
    for model in models:
        for candidate in model.rank(question, candidates):
            if model.name in candidate.signals.rankers:
                scored[candidate.passage.id][model.name] = candidate.signals.rankers[model.name]
    scores = scores_of(list(scored.values()))
    if keywords is None or not candidates:
        return scores
    pairs = [(full_question(question), candidate.passage.text) for candidate in candidates]
    return with_columns(scores, keywords.features(pairs), FEATURES)


def single_feature_scores(data: FusionTrainingData) -> Iterator[tuple[str, FloatArray]]:
    """Every feature that ranks candidates, with its scores (N,): the higher the better."""
    counts = ("question_words", "answer_words", "asked")
    for column, name in enumerate(data.scores.names):
        if name not in counts:
            yield name, data.scores.table[:, column]
