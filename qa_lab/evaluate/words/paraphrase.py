"""`eval paraphrase`: accuracy of deciding whether two questions have the same meaning, over labelled pairs.

Baselines are the overlap of words (Jaccard) and the cosine of each encoder, each with the best threshold on the
training part, and all of them by logistic regression. A model says yes if its logit, averaged over both orders of the
pair, is above 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_bot.home.encoders import STARTER, resolve
from qa_core.encoders.pair_tokens import TextPair
from qa_core.measures.metrics import Score
from qa_core.text.analysis import words
from qa_core.types import Encoder, FloatArray
from qa_lab.data.paraphrase_pairs import kept_aside, labelled
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from rankers.neural import PairScorer

TASK = "paraphrase"
MEASURE = "accuracy"
RIDGE = 1e-3  # penalty of the regression's weights
_BATCH = 500  # pairs that a model scores at a time

Labels = NDArray[np.bool_]
Part = tuple[list[TextPair], Labels]


def evaluate_paraphrase(
    data: Path,
    *,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    held_out: float = 0.0,
    train: Path | None = None,
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each model, then the baselines, compared with the first by accuracy.

    Args:
        data: labelled pairs of questions in the format of `train entailment`.
        models: folders of pair scorers.
        encoders: names of encoders, by default `starter`.
        held_out: share of the questions that training held out (`test` in its settings), which is measured;
            thresholds come from the rest. By default all is measured, and each half's thresholds come from the other.
        train: labelled pairs for the thresholds; then all of `data` is measured.
        limit: largest number of measured pairs, half of them of each label if there are enough.
        home: folder of fetched encoders.

    Raises:
        TrainingDataError: if training or measured pairs lack a label.
        EncoderError, RankerError: if a model cannot be opened.
    """
    questions = read_question_pairs([data]).examples
    if train is not None:
        split, parts = f"thresholds from {train.name}", [(read_question_pairs([train]).examples, questions)]
    elif held_out:
        split, parts = f"{held_out:g} kept aside", [kept_aside(questions, held_out)]
    else:
        first, second = kept_aside(questions, 0.5)
        split, parts = "whole", [(first, second), (second, first)]
    limits = _shared(limit, len(parts))
    folds = [
        (_part(*labelled(known)), _part(*labelled(test, limit=most)))
        for (known, test), most in zip(parts, limits, strict=True)
    ]
    for fold in folds:
        for purpose, (_, labels) in zip(("choose thresholds by", "measure on"), fold, strict=True):
            if len(set(labels.tolist())) < 2:
                raise TrainingDataError(
                    f"Expected pairs of both labels to {purpose}, but got {len(labels)} pairs, {int(labels.sum())} of "
                    f"them alike; give more than {data.name} has, or another share."
                )
    pairs = [pair for _, (test, _) in folds for pair in test]
    right = np.concatenate([labels for _, (_, labels) in folds])
    with TemporaryDirectory() as folder:
        systems = [*_models(models, pairs, progress)]
        baselines = [[*_baselines(*fold, encoders, home / "models" if home else Path(folder))] for fold in folds]
    for same in zip(*baselines, strict=True):
        systems.append((same[0][0], same[0][1], np.concatenate([decisions for _, _, decisions in same])))
    return compared([_row(data.name, split, *system, right) for system in systems], MEASURE)


def jaccard(pairs: Sequence[TextPair]) -> FloatArray:
    """`|A ∩ B| / |A ∪ B|` of the two questions' words, (N,); 0 if neither has any."""
    shares = np.zeros(len(pairs), dtype=np.float32)
    for i, (first, second) in enumerate(pairs):
        left, right = set(words(first)), set(words(second))
        shares[i] = len(left & right) / max(1, len(left | right))
    return shares


def cosine(encoder: Encoder, pairs: Sequence[TextPair]) -> FloatArray:
    """Cosine of the two questions' vectors, (N,)."""
    texts = {text: row for row, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    vectors = encoder.encode(list(texts))
    first, second = (vectors[[texts[pair[side]] for pair in pairs]] for side in (0, 1))
    cosines: FloatArray = np.einsum("nd,nd->n", first, second).astype(np.float32)
    return cosines


def best_threshold(scores: FloatArray, labels: Labels) -> float:
    """`t` for which `score ≥ t` is right most often, half-way between two scores; infinity if no is best for all."""
    order = np.argsort(-scores, kind="stable")
    ordered, right = scores[order].astype(np.float64), labels[order]
    hits = np.concatenate([[0], np.cumsum(np.where(right, 1, -1))])  # gain of saying yes to the first k
    last = np.append(ordered[1:] < ordered[:-1], True)  # equal scores get the same decision
    hits[1:][~last] = -len(labels) - 1
    count = int(hits.argmax())
    if count == 0:
        return float("inf")
    return float(ordered[-1]) if count == len(ordered) else float((ordered[count - 1] + ordered[count]) / 2)


def logistic(features: FloatArray, labels: Labels, queries: FloatArray) -> FloatArray:
    """Logits (M,) of `queries` (M, F) by logistic regression on features (N, F), standardised."""
    mean, spread = features.mean(0), features.std(0)
    spread[spread == 0] = 1

    def design(rows: FloatArray) -> NDArray[np.float64]:
        return np.column_stack([np.ones(len(rows)), (rows - mean) / spread]).astype(np.float64)

    penalty = 1 / (RIDGE * len(features))
    model = LogisticRegression(C=penalty, fit_intercept=False, solver="newton-cholesky", tol=1e-10)
    model.fit(design(features), labels)
    return np.asarray(model.decision_function(design(queries)), dtype=np.float32)


def both_orders(scorer: PairScorer, pairs: Sequence[TextPair]) -> FloatArray:
    """Mean logit (N,) of each pair in both orders."""
    turned = [(second, first) for first, second in pairs]
    mean: FloatArray = np.mean([scorer.score(pairs), scorer.score(turned)], axis=0, dtype=np.float32)
    return mean


def _shared(limit: int | None, folds: int) -> list[int | None]:
    """A limit in equal parts, the first of them larger by one if need be."""
    return [None if limit is None else (limit + folds - 1 - fold) // folds for fold in range(folds)]


def _part(pairs: list[TextPair], labels: Sequence[bool]) -> Part:
    return pairs, np.array(labels, dtype=np.bool_)


def _models(models: Sequence[Path], pairs: Sequence[TextPair], progress: Progress) -> Iterator[tuple[str, str, Labels]]:
    """Name, encoder (always empty) and the decision for each pair."""
    for folder in models:
        scorer = open_ranker(folder)
        parts = []
        for start in range(0, len(pairs), _BATCH):
            parts.append(both_orders(scorer, pairs[start : start + _BATCH]))
            progress(f"scored by {folder.name}", min(start + _BATCH, len(pairs)))
        yield folder.resolve().name, "", np.concatenate(parts) > 0


def _baselines(known: Part, test: Part, names: Sequence[str], models: Path) -> Iterator[tuple[str, str, Labels]]:
    columns: Mapping[str, tuple[FloatArray, FloatArray]] = {"": (jaccard(known[0]), jaccard(test[0]))}
    for name in dict.fromkeys(names) or (STARTER,):
        encoder = resolve(name, models=models)
        columns = {**columns, name: (cosine(encoder, known[0]), cosine(encoder, test[0]))}
    for name, (known_scores, test_scores) in columns.items():
        yield ("cosine" if name else "Jaccard"), name, test_scores >= best_threshold(known_scores, known[1])
    features: list[FloatArray] = [np.column_stack([column[side] for column in columns.values()]) for side in (0, 1)]
    yield "logistic regression", "", logistic(features[0], known[1], features[1]) > 0
    common = bool(known[1].mean() > 0.5)
    yield "more frequent label", "", np.full(len(test[1]), common)


def _row(data: str, split: str, engine: str, encoder: str, decisions: Labels, labels: Labels) -> Row:
    right = {str(i): float(hit) for i, hit in enumerate((decisions == labels).tolist())}
    return Row(TASK, data, split, engine, encoder, len(labels), {MEASURE: Score.of(right)})
