"""Fits the shipped confidence of ranked passages to several collections of questions with known answers.

    QA_BOT_DATA=… python -m qa_lab.fit.fit_passage_confidence

Rows come from the starter collection (an answer is right if its document is), and from the development collections
of people's documents (right if the answer holds every gold text). All collections weigh the same. It prints how each
collection fares with a calibration that was fitted to the others, and writes the calibration of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson
from sklearn.metrics import roc_auc_score

from qa_bot.answering.confidence.calibration import PASSAGES as FEATURES
from qa_bot.answering.confidence.calibration import Calibration, Features
from qa_bot.answering.confidence.logistic_regression import cross_validated, fit
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.fit_confidence import ANSWERED, KEYWORD, PASSAGES, UNDECIDED, rank_starter
from qa_bot.answering.stages.compose import TILED, compose
from qa_bot.answering.stages.decide import Decided, Decision, confidence_features
from qa_bot.answering.stages.retrieve import SearchMode
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import COLLECTION as STARTER_FILE
from qa_core.types import Encoder, Question
from qa_lab.evaluate.workplace.grading import grade
from qa_lab.evaluate.workplace.questions import read_questions
from qa_lab.reference.replies import Reply

WORKPLACE = ("company", "18f")
REPOSITORY = ("manual", "german", "notes", "forum", "faq", "everyday")
COLLECTIONS_FOLDER = Path(__file__).parents[2] / "benchmarks" / "collections"
GOOD = {"3", "2"}


@dataclass(frozen=True, slots=True)
class Row:
    collection: str
    group: str
    features: Features
    right: bool
    weight: float = 1.0


def collections() -> Iterator[tuple[str, Path, Path]]:
    """Name, documents and questions of each development collection."""
    data = Path(os.environ["QA_BOT_DATA"]) / "workplace"
    for name in WORKPLACE:
        yield name, data / name, data / f"{name}.questions.jsonl"
    for name in REPOSITORY:
        documents = STARTER_FILE if name == "everyday" else COLLECTIONS_FOLDER / name / "documents"
        yield name, documents, COLLECTIONS_FOLDER / name / "questions.jsonl"


def answered_rows(encoder: Encoder, name: str, documents: Path, questions: Path, mode: SearchMode) -> Iterator[Row]:
    """A row for each question about some documents, answered without refusal."""
    config = Config()
    with TemporaryDirectory(prefix="qa-bot-fit-") as folder, ThreadPoolExecutor(4) as workers:
        home = Home.open(Path(folder))
        add(home, config, encoder, [documents])
        with Generations(home.index).pin_current() as generation:
            assert generation is not None
            corridor = Corridor(Index(generation), encoder, UNDECIDED, config, workers)
            for question in read_questions(questions):
                ranking = corridor.rank(Question(question.turn.question), corridor.start(Deadline.after(60)), mode=mode)
                decision = Decision(1.0, 0.0, {"": 1.0})
                answer = compose(Decided(ranking, decision), limit=config.answer.limit, top=TILED)
                sources = tuple(source.document for source in answer.sources)
                reply = Reply(bool(answer.text), answer.text, sources)
                features = confidence_features(ranking, corridor.index)
                yield Row(name, question.id, features, grade(question, reply) in GOOD)


def starter_rows(encoder: Encoder, mode: SearchMode) -> list[Row]:
    """A row for each starter question; answered and unanswered ones weigh the same."""
    ranked = rank_starter(encoder, mode, formula="passages")
    answered = np.array([row.question.kind == ANSWERED for row in ranked])
    unanswered = answered.sum() / max(1, (~answered).sum())
    return [
        Row(STARTER, row.question.document or f"none {i}", row.features, row.right, 1.0 if is_answered else unanswered)
        for i, (row, is_answered) in enumerate(zip(ranked, answered, strict=True))
    ]


def weights(rows: Sequence[Row]) -> np.ndarray:
    """The weights (N,) by which every collection has the same total."""
    totals: dict[str, float] = {}
    for row in rows:
        totals[row.collection] = totals.get(row.collection, 0.0) + row.weight
    return np.array([row.weight / totals[row.collection] for row in rows]) * len(rows) / len(totals)


def fitted(rows: Sequence[Row]) -> Calibration:
    """A calibration with thresholds from held-out questions."""
    calibration, _ = cross_validated(
        [row.features for row in rows],
        [row.right for row in rows],
        [f"{row.collection} {row.group}" for row in rows],
        names=FEATURES,
        weights=weights(rows),
    )
    return calibration


def report(rows: Sequence[Row]) -> str:
    """How each collection fares with a calibration of the others: area under the curve, precision and share given."""
    lines = []
    for name in dict.fromkeys(row.collection for row in rows):
        others, own_rows = [r for r in rows if r.collection != name], [r for r in rows if r.collection == name]
        calibration = fit(
            [r.features for r in others], [r.right for r in others], names=FEATURES, weights=weights(others)
        )
        threshold = fitted(others).threshold(Config().answer.precision)
        confidences = np.array([calibration.confidence(r.features) for r in own_rows])
        right, answers = np.array([r.right for r in own_rows]), confidences >= threshold
        lines.append(
            f"{name}: AUC {roc_auc_score(right, confidences):.3f}, precision {right[answers].mean():.3f}, "
            f"answered {answers.mean():.3f}, threshold {threshold:.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit both calibrations and write them."""
    encoder = resolve(STARTER, models=Path())
    modes: dict[str, SearchMode] = {"hybrid": "hybrid", KEYWORD: "keyword"}
    calibrations = {}
    for name, mode in modes.items():
        rows = [row for collection in collections() for row in answered_rows(encoder, *collection, mode)]
        rows += starter_rows(encoder, mode)
        print(f"{name}\n{report(rows)}")  # noqa: T201 (a tool run by hand)
        calibrations[name] = fitted(rows)
    PASSAGES.write_bytes(orjson.dumps(calibrations, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
