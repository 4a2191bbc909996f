"""`eval paraphrase`: do two questions ask the same? Accuracy over labelled pairs, against thresholds.

Baselines are the overlap of words (Jaccard) and the cosine of each encoder, each alone by the threshold that is best
on the training part, and all of them by logistic regression. A model says yes where its logit is above 0; one that is
not symmetric is asked in both orders and the logits are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_bot.home.encoders import STARTER, resolve
from qa_core.measures.metrics import Score
from qa_core.networks.pair_tokens import TextPair
from qa_core.text.analysis import words
from qa_core.types import Encoder, FloatArray
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.train.data.paraphrase_pairs import kept_aside, labelled
from qa_lab.train.data.question_pairs import read_question_pairs
from qa_lab.train.errors import TrainingDataError
from rankers.neural import PairScorer

TASK = "paraphrase"
MEASURE = "accuracy"
RIDGE = 1e-3  # of the regression's weights, over standardised features
STEPS = 50
_AT_ONCE = 500  # pairs, of a model

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
        data: labelled pairs of questions, as `train entailment` reads them.
        models: folders of pair scorers.
        encoders: names of encoders, `starter` where none is named.
        held_out: the share of the questions that training kept aside with `test` in its settings: what is measured
            on; thresholds come from the rest. Without a share all is measured on, thresholds for each half coming from
            the other.
        train: labelled pairs that thresholds come from; all of `data` is measured on then.
        limit: pairs that are measured on, half of them of each label.
        home: where encoders that were fetched lie.

    Raises:
        TrainingDataError: no pairs of both labels to choose thresholds by and to measure on.
        EncoderError, RankerError: a model cannot be opened.
    """
    questions = read_question_pairs([data]).examples
    if train is not None:
        split, parts = f"thresholds from {train.name}", [(read_question_pairs([train]).examples, questions)]
    elif held_out:
        split, parts = f"{held_out:g} kept aside", [kept_aside(questions, held_out)]
    else:
        first, second = kept_aside(questions, 0.5)
        split, parts = "whole", [(first, second), (second, first)]
    folds = [(_part(*labelled(known)), _part(*labelled(asked, limit=limit))) for known, asked in parts]
    for each in folds:
        for told, (_, labels) in zip(("choose thresholds by", "measure on"), each, strict=True):
            if len(set(labels.tolist())) < 2:
                raise TrainingDataError(
                    f"Expected pairs of both labels to {told}, but got {len(labels)} pairs, {int(labels.sum())} of "
                    f"them alike; give more than {data.name} has, or another share."
                )
    pairs = [pair for _, (asked, _) in folds for pair in asked]
    right = np.concatenate([labels for _, (_, labels) in folds])
    with TemporaryDirectory() as folder:
        systems = [*_models(models, pairs, progress)]
        found = [[*_baselines(*fold, encoders, home / "models" if home else Path(folder))] for fold in folds]
    for same in zip(*found, strict=True):
        systems.append((same[0][0], same[0][1], np.concatenate([said for _, _, said in same])))
    return compared([_row(data.name, split, *system, right) for system in systems], MEASURE)


def jaccard(pairs: Sequence[TextPair]) -> FloatArray:
    """`|A ∩ B| / |A ∪ B|` of the two questions' words, (N,); 0 where neither has one."""
    found = np.zeros(len(pairs), dtype=np.float32)
    for place, (first, second) in enumerate(pairs):
        left, right = set(words(first)), set(words(second))
        found[place] = len(left & right) / max(1, len(left | right))
    return found


def cosine(encoder: Encoder, pairs: Sequence[TextPair]) -> FloatArray:
    """Of the two questions' vectors, (N,)."""
    texts = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    vectors = encoder.encode(list(texts))
    first, second = (vectors[[texts[pair[side]] for pair in pairs]] for side in (0, 1))
    cosines: FloatArray = np.einsum("nd,nd->n", first, second).astype(np.float32)
    return cosines


def best_threshold(scores: FloatArray, labels: Labels) -> float:
    """`t` for which `score ≥ t` is right most often, half-way between two scores; infinity where no is always right."""
    order = np.argsort(-scores, kind="stable")
    ordered, right = scores[order].astype(np.float64), labels[order]
    hits = np.concatenate([[0], np.cumsum(np.where(right, 1, -1))])  # gained by saying yes to so many
    last = np.append(ordered[1:] < ordered[:-1], True)  # equal scores fall together
    hits[1:][~last] = -len(labels) - 1
    count = int(hits.argmax())
    if count == 0:
        return float("inf")
    return float(ordered[-1]) if count == len(ordered) else float((ordered[count - 1] + ordered[count]) / 2)


def logistic(features: FloatArray, labels: Labels, asked: FloatArray) -> FloatArray:
    """Logits (M,) of `asked` (M, F) by logistic regression on features (N, F), standardised, by Newton's method."""
    mean, spread = features.mean(0), features.std(0)
    spread[spread == 0] = 1

    def design(rows: FloatArray) -> NDArray[np.float64]:
        return np.column_stack([np.ones(len(rows)), (rows - mean) / spread]).astype(np.float64)

    inputs, wanted = design(features), labels.astype(np.float64)
    weights = np.zeros(inputs.shape[1])
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(STEPS):
        chances = 0.5 * (1 + np.tanh(0.5 * (inputs @ weights)))
        slope = inputs.T @ (chances - wanted) / len(inputs) + ridge @ weights
        curve = (inputs * (chances * (1 - chances))[:, None]).T @ inputs / len(inputs) + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    logits: FloatArray = np.asarray(design(asked) @ weights, dtype=np.float32)
    return logits


def both_orders(scorer: PairScorer, pairs: Sequence[TextPair]) -> FloatArray:
    """Mean logit (N,) of a pair and the pair turned round."""
    turned = [(second, first) for first, second in pairs]
    mean: FloatArray = np.mean([scorer.score(pairs), scorer.score(turned)], axis=0, dtype=np.float32)
    return mean


def _part(pairs: list[TextPair], labels: Sequence[bool]) -> Part:
    return pairs, np.array(labels, dtype=np.bool_)


def _models(models: Sequence[Path], pairs: Sequence[TextPair], progress: Progress) -> Iterator[tuple[str, str, Labels]]:
    """Name, encoder (none has one) and what is said of each pair."""
    for folder in models:
        scorer = open_ranker(folder)
        parts = []
        for start in range(0, len(pairs), _AT_ONCE):
            parts.append(both_orders(scorer, pairs[start : start + _AT_ONCE]))
            progress(f"scored by {folder.name}", min(start + _AT_ONCE, len(pairs)))
        yield folder.resolve().name, "", np.concatenate(parts) > 0


def _baselines(known: Part, asked: Part, names: Sequence[str], models: Path) -> Iterator[tuple[str, str, Labels]]:
    columns: Mapping[str, tuple[FloatArray, FloatArray]] = {"": (jaccard(known[0]), jaccard(asked[0]))}
    for name in dict.fromkeys(names) or (STARTER,):
        encoder = resolve(name, models=models)
        columns = {**columns, name: (cosine(encoder, known[0]), cosine(encoder, asked[0]))}
    for name, (train, test) in columns.items():
        yield ("cosine" if name else "Jaccard"), name, test >= best_threshold(train, known[1])
    features: list[FloatArray] = [np.column_stack([column[side] for column in columns.values()]) for side in (0, 1)]
    yield "logistic regression", "", logistic(features[0], known[1], features[1]) > 0
    common = bool(known[1].mean() > 0.5)
    yield "more frequent label", "", np.full(len(asked[1]), common)


def _row(data: str, split: str, engine: str, encoder: str, said: Labels, labels: Labels) -> Row:
    right = {str(place): float(hit) for place, hit in enumerate((said == labels).tolist())}
    return Row(TASK, data, split, engine, encoder, len(labels), {MEASURE: Score.of(right)})
