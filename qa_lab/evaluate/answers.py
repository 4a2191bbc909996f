"""`eval answers`: answer selection as on TrecQA and WikiQA, the rank of the right answers among the candidates.

The rows are BM25 (with statistics over all candidate answers), encoders by cosine, and trained rankers. Ties are ranked
by a hash of the answer, not by the order of the file.
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
from qa_lab.data.answer_sets import Keep, read_answer_sets, select
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from rankers.fusion import FusedScorer
from rankers.neural import PairScorer, TextPair
from rankers.training.answer_pool import AnswerSet

TASK = "answers"
MEASURES = ("AP", "RR", "Success@1")
COMPARED_BY = "AP"
K1, B = 1.2, 0.75
_BATCH = 1_000  # pairs that a ranker scores at a time


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
    """A row for BM25, each encoder and each model, compared with the first row by AP.

    Args:
        data: training data of rankers.
        models: folders of trained rankers.
        encoders: names of encoders.
        keep: the questions to use: with right and wrong answers, with a right answer, or all; or `short` answers alone.
        limit: largest number of questions that `keep` leaves.
        home: folder of fetched encoders.

    Raises:
        TrainingDataError: if no question is left.
        EncoderError, RankerError: if a model cannot be opened.
    """
    sets = select(read_answer_sets([data]).examples, keep)[:limit]
    if not sets:
        raise TrainingDataError(
            f"Expected questions with right and wrong answers in {data}, but none is left by --keep {keep}; keep more."
        )
    pairs = [(group.question, answer) for group in sets for answer in group.answers]
    qrels = {
        _id(group): {_hash(answer): int(right) for answer, right in zip(group.answers, group.labels, strict=True)}
        for group in sets
    }
    rows = []
    with TemporaryDirectory() as folder:
        for name, encoder, scores in _systems(sets, pairs, models, encoders, home or Path(folder), progress):
            run: dict[str, dict[str, float]] = {}
            remaining = iter(scores.tolist())
            for group in sets:
                run[_id(group)] = {_hash(answer): next(remaining) for answer in group.answers}
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
    """Name, encoder, and the score of each pair."""
    yield "BM25", "", by_keywords(sets)
    for name in encoders:
        yield "cosine", name, by_cosine(resolve(name, models=home / "models"), pairs)
    for folder in models:
        yield folder.resolve().name, "", _in_parts(open_ranker(folder), pairs, folder.name, progress)


def by_keywords(sets: Sequence[AnswerSet]) -> FloatArray:
    """BM25 of each answer for its question, (N,), with k1 1.2 and b .75, over stems without stop words."""
    answers = [terms(answer) for group in sets for answer in group.answers]
    index = BM25Okapi([answer or [""] for answer in answers], k1=K1, b=B)
    scores: list[float] = []
    for group in sets:
        numbers = list(range(len(scores), len(scores) + len(group.answers)))
        scores += index.get_batch_scores(terms(group.question), numbers)
    return np.array(scores, dtype=np.float32)


def by_cosine(encoder: Encoder, pairs: Sequence[TextPair]) -> FloatArray:
    """Cosine of question and answer, (N,)."""
    questions = {text: row for row, text in enumerate(dict.fromkeys(question for question, _ in pairs))}
    answers = {text: row for row, text in enumerate(dict.fromkeys(answer for _, answer in pairs))}
    left, right = encoder.encode(list(questions), side="question"), encoder.encode(list(answers), side="answer")
    chosen = left[[questions[q] for q, _ in pairs]], right[[answers[a] for _, a in pairs]]
    scores: FloatArray = np.einsum("nd,nd->n", *chosen).astype(np.float32)
    return scores


def _in_parts(scorer: PairScorer, pairs: Sequence[TextPair], name: str, progress: Progress) -> FloatArray:
    if isinstance(scorer, FusedScorer):  # it needs all candidates of a question together
        return scorer.score(pairs)
    parts = []
    for start in range(0, len(pairs), _BATCH):
        parts.append(scorer.score(pairs[start : start + _BATCH]))
        progress(f"scored by {name}", min(start + _BATCH, len(pairs)))
    return np.concatenate(parts)


def _id(group: AnswerSet) -> str:
    return f"{group.id} {_hash(group.question)}".strip()


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
