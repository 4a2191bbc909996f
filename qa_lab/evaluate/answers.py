"""`eval answers`: answer selection as on TrecQA and WikiQA. Of each question's candidates, are the right ones first?

BM25 is the first row, its statistics over all candidate answers of the data; then encoders by cosine, then trained
rankers. Equal scores are ranked by a hash of the answer, never by the order of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rank_bm25 import BM25Okapi

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_bot.home.encoders import resolve
from qa_core.measures.metrics import evaluate
from qa_core.text.analysis import terms
from qa_core.types import Encoder, FloatArray
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.train.data.answer_sets import Keep, read_answer_sets, select
from qa_lab.train.errors import TrainingDataError
from rankers.fusion import FusedScorer
from rankers.neural import PairScorer, TextPair
from rankers.training.answer_pool import AnswerSet

TASK = "answers"
MEASURES = ("AP", "RR", "Success@1")
COMPARED_BY = "AP"
K1, B = 1.2, 0.75
_AT_ONCE = 1_000  # pairs, of a ranker


def evaluate_answers(
    data: Path,
    *,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    keep: Keep = "both",
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for BM25 and for each encoder and model, compared with the first by AP.

    Args:
        data: whatever rankers are trained on.
        models: folders of trained rankers.
        encoders: names of encoders.
        keep: which questions count: with right and wrong answers, with a right one, or all.
        limit: questions.
        home: where encoders that were fetched lie.

    Raises:
        TrainingDataError: no question counts.
        EncoderError, RankerError: a model cannot be opened.
    """
    sets = select(read_answer_sets([data], limit=limit).examples, keep)
    if not sets:
        raise TrainingDataError(
            f"Expected questions with right and wrong answers in {data}, but none is left by --keep {keep}; keep more."
        )
    pairs = [(each.question, answer) for each in sets for answer in each.answers]
    qrels = {_id(each): {_hash(a): int(r) for a, r in zip(each.answers, each.labels, strict=True)} for each in sets}
    rows = []
    with TemporaryDirectory() as folder:
        for name, encoder, scores in _systems(sets, pairs, models, encoders, home or Path(folder), progress):
            run: dict[str, dict[str, float]] = {}
            places = iter(scores.tolist())
            for each in sets:
                run[_id(each)] = {_hash(answer): next(places) for answer in each.answers}
            measured = evaluate(qrels, run, MEASURES)
            rows.append(Row(TASK, data.name, f"keep {keep}", name, encoder, len(sets), measured))
    return compared(rows, COMPARED_BY)


def _systems(
    sets: Sequence[AnswerSet],
    pairs: Sequence[TextPair],
    models: Sequence[Path],
    encoders: Sequence[str],
    home: Path,
    progress: Progress,
) -> Iterator[tuple[str, str, FloatArray]]:
    """Name, encoder, and a score for each pair."""
    yield "BM25", "", by_keywords(sets)
    for name in encoders:
        yield "cosine", name, by_cosine(resolve(name, models=home / "models"), pairs)
    for folder in models:
        yield folder.resolve().name, "", _in_parts(open_ranker(folder), pairs, folder.name, progress)


def by_keywords(sets: Sequence[AnswerSet]) -> FloatArray:
    """BM25 of each answer for its question, (N,): k1 1.2, b .75, stems without stop words."""
    answers = [terms(answer) for each in sets for answer in each.answers]
    index = BM25Okapi([each or [""] for each in answers], k1=K1, b=B)
    found: list[float] = []
    for each in sets:
        places = list(range(len(found), len(found) + len(each.answers)))
        found += index.get_batch_scores(terms(each.question), places)
    return np.array(found, dtype=np.float32)


def by_cosine(encoder: Encoder, pairs: Sequence[TextPair]) -> FloatArray:
    """Cosine of question and answer, (N,)."""
    questions = {text: place for place, text in enumerate(dict.fromkeys(question for question, _ in pairs))}
    answers = {text: place for place, text in enumerate(dict.fromkeys(answer for _, answer in pairs))}
    left, right = encoder.encode(list(questions), side="question"), encoder.encode(list(answers), side="answer")
    chosen = left[[questions[q] for q, _ in pairs]], right[[answers[a] for _, a in pairs]]
    scores: FloatArray = np.einsum("nd,nd->n", *chosen).astype(np.float32)
    return scores


def _in_parts(scorer: PairScorer, pairs: Sequence[TextPair], name: str, progress: Progress) -> FloatArray:
    if isinstance(scorer, FusedScorer):  # it wants all candidates of a question together
        return scorer.score(pairs)
    parts = []
    for start in range(0, len(pairs), _AT_ONCE):
        parts.append(scorer.score(pairs[start : start + _AT_ONCE]))
        progress(f"scored by {name}", min(start + _AT_ONCE, len(pairs)))
    return np.concatenate(parts)


def _id(each: AnswerSet) -> str:
    return f"{each.id} {_hash(each.question)}".strip()


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
