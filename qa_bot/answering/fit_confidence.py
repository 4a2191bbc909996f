"""Finds the calibration of an encoder: shipped for the starter encoder, fitted once for any other.

The starter collection comes with questions that it answers and questions that it does not (off-topic, near misses,
nonsense). `calibrate` runs all of them. It runs each answered question again on an index without the right document:
then the first document is wrong, as for most questions to an unknown collection. Answered and unanswered questions
have the same total weight, and the questions of a document are in one fold. `python -m qa_bot.answering.fit_confidence`
writes the shipped file and prints its held-out precision.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import orjson

from qa_bot.answering.confidence.calibration import HYBRID, KEYWORDS, Calibration, Calibrations, Features
from qa_bot.answering.confidence.logistic_regression import cross_validated
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.relevance.passage_scorer import calibrations_in
from qa_bot.home.checks.sealed_files import seal
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.sections import Formula, RankingSection
from qa_bot.home.starter import COLLECTION, FOLDER, NAME, QUESTIONS
from qa_core.types import Encoder, Question

if TYPE_CHECKING:
    from qa_bot.answering.stages.retrieve import SearchMode

SHIPPED = FOLDER / "confidence.json"
PASSAGES = FOLDER / "passage_confidence.json"
"""Calibrations of answers whose passages were ranked: by all searches (`hybrid`), and by keywords alone."""
KEYWORD = "keyword"
"""Key of the calibration for keyword search."""
VERIFIED, SCORED = "verified", "scored"
"""Ends of the keys of calibrations of answers whose passages were also read, or read and scored: `hybrid verified`."""
FITTING = 2
"""Version of the fitting, part of the names of fitted files: raise it to fit all of them anew."""
PARTS = 10
"""The documents are held out in this many parts."""
ANSWERED, HELD_OUT = "answered", "held out"


class CalibrationQuestion(NamedTuple):
    text: str
    document: str  # id of the document that answers it; empty if none does
    kind: str = ANSWERED


class RankedQuestion(NamedTuple):
    """A question with the features of its first document, and whether that document answers it."""

    question: CalibrationQuestion
    features: Features
    right: bool


class Fitted(NamedTuple):
    calibration: Calibration
    confidences: np.ndarray  # held out, (N,)
    questions: list[RankedQuestion]


def calibration_for(encoder: Encoder | None, models: Path) -> Calibration:
    """The calibration of an encoder: shipped or fitted by `ensure`; otherwise that of keyword search."""
    shipped = _read(SHIPPED)
    if encoder is None:
        return shipped[KEYWORD]
    if encoder.fingerprint in shipped:
        return shipped[encoder.fingerprint]
    path = _fitted_path(encoder, models)
    return Calibration.load(path) if path.exists() else shipped[KEYWORD]


def calibrations(encoder: Encoder | None, models: Path, cross_encoder: str = "") -> Calibrations:
    """All calibrations of an encoder; those of ranked passages hold for every encoder.

    Args:
        cross_encoder: folder of the cross-encoder that scores passages in place of the shipped network.

    Raises:
        ConfigError: its calibrations are damaged.
    """
    passages = _read(PASSAGES)
    scored = calibrations_in(cross_encoder) if cross_encoder else _scored(passages)
    return Calibrations(
        calibration_for(encoder, models),
        calibration_for(None, models),
        passages["hybrid"],
        passages[KEYWORD],
        passages[f"hybrid {VERIFIED}"],
        passages[f"{KEYWORD} {VERIFIED}"],
        scored.get("hybrid"),
        scored.get(KEYWORD),
    )


def _scored(passages: Mapping[str, Calibration]) -> dict[str, Calibration]:
    """The calibrations of passages that the shipped network scored."""
    end = f" {SCORED}"
    return {key.removesuffix(end): calibration for key, calibration in passages.items() if key.endswith(end)}


def ensure(encoder: Encoder, models: Path) -> None:
    """Fit a calibration for an encoder that has none: runs about two thousand questions."""
    path = _fitted_path(encoder, models)
    if path.exists() or encoder.fingerprint in _read(SHIPPED):
        return
    fitted = calibrate(encoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.calibration.save(path)
    seal(models.parent)


def questions() -> list[CalibrationQuestion]:
    """The questions of the starter collection, paraphrases of them, and questions that it does not answer."""
    titles = [CalibrationQuestion(row["question"], row["id"]) for row in _lines(COLLECTION)]
    return titles + [
        CalibrationQuestion(row["question"], row["answer"] or "", row.get("kind", ANSWERED))
        for row in _lines(QUESTIONS)
    ]


def calibrate(encoder: Encoder, *, engine: SearchMode = "hybrid") -> Fitted:
    """Fit to the starter questions; an answer is right if the first document is the expected one."""
    ranked = rank_starter(encoder, engine, formula="evidence")
    answered = np.array([row.question.kind == ANSWERED for row in ranked])
    weights = np.where(answered, 1.0, answered.sum() / (~answered).sum())
    groups = [row.question.document or f"unanswered {i}" for i, row in enumerate(ranked)]
    names = KEYWORDS if engine == "keyword" else HYBRID
    features, right = [row.features for row in ranked], [row.right for row in ranked]
    calibration, confidences = cross_validated(features, right, groups, names=names, weights=weights)
    return Fitted(calibration, confidences, ranked)


def rank_starter(encoder: Encoder, engine: SearchMode, *, formula: Formula) -> list[RankedQuestion]:
    """All questions on the whole collection, then the answered ones on a collection without their document."""
    from qa_bot.documents.sync import add, delete  # late: only calibration writes

    every = questions()
    held_out = [question._replace(kind=HELD_OUT) for question in every if question.kind == ANSWERED]
    documents = np.random.default_rng(0).permutation(sorted({question.document for question in held_out}))
    config = replace(Config(), ranking=RankingSection(formula=formula))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="qa-bot-calibration-")))
        workers = stack.enter_context(ThreadPoolExecutor(4))
        home = Home.open(folder / "whole")
        add(home, config, encoder, [COLLECTION], collection=NAME)
        ranked = [*_rank(home, encoder, engine, every, config, workers)]
        for part in range(PARTS):
            without = set(documents[part::PARTS].tolist())
            rest = Home.open(Path(shutil.copytree(home.path, folder / str(part))))
            delete(rest, config, encoder, ids=sorted(without))
            left_out = [question for question in held_out if question.document in without]
            ranked += _rank(rest, encoder, engine, left_out, config, workers)
            shutil.rmtree(rest.path)
    return ranked


def _rank(
    home: Home,
    encoder: Encoder,
    engine: SearchMode,
    questions: Iterable[CalibrationQuestion],
    config: Config,
    workers: ThreadPoolExecutor,
) -> Iterator[RankedQuestion]:
    from qa_bot.answering.corridor import Corridor  # late: a calibration that is there needs no answers
    from qa_bot.answering.stages.decide import confidence_features

    with Generations(home.index).pin_current() as generation:
        assert generation is not None
        corridor = Corridor(Index(generation), encoder, UNDECIDED, config, workers)
        for question in questions:
            ranking = corridor.rank(Question(question.text), corridor.start(Deadline.after(60)), mode=engine)
            first = ranking.candidates[0].passage.source.document if ranking.candidates else ""
            yield RankedQuestion(
                question, confidence_features(ranking, corridor.index), bool(first) and first == question.document
            )


def describe(fitted: Fitted) -> str:
    """Share of right first documents, and of right and wrong answers given at some thresholds, all held out."""
    right = np.array([row.right for row in fitted.questions])
    kinds = np.array([row.question.kind for row in fitted.questions])
    answered = kinds == ANSWERED
    lines = [f"right first document for {right[answered].mean():.3f} of {answered.sum()} answered questions"]
    for precision in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        threshold = fitted.calibration.threshold(precision)
        answers = fitted.confidences >= threshold
        unanswered = ", ".join(f"{kind} {answers[kinds == kind].mean():.3f}" for kind in _others(kinds.tolist()))
        lines.append(
            f"wanted precision {precision:.2f}: threshold {threshold:.2f}, right answers given "
            f"{answers[right].mean():.3f}, unanswered ones given: {unanswered}"
        )
    return "\n".join(lines)


def _others(kinds: Sequence[str]) -> list[str]:
    """The kinds of unanswered questions, in order of appearance."""
    return [kind for kind in dict.fromkeys(kinds) if kind != ANSWERED]


UNDECIDED = Calibrations(*[Calibration((), (), (), (), 0.0)] * 6)
"""For measuring before there is a calibration."""


def _fitted_path(encoder: Encoder, models: Path) -> Path:
    return models / f"confidence-{FITTING}-{encoder.fingerprint[:32]}.json"


def _read(path: Path) -> dict[str, Calibration]:
    return {name: Calibration.of(fields) for name, fields in orjson.loads(path.read_bytes()).items()}


def _lines(path: Path) -> Iterable[dict[str, str]]:
    return map(orjson.loads, path.read_bytes().splitlines())


def _ship() -> None:
    from qa_bot.home.encoders import resolve

    encoder = resolve("starter", models=Path())
    fitted = {KEYWORD: calibrate(encoder, engine="keyword"), encoder.fingerprint: calibrate(encoder)}
    for name, result in fitted.items():
        print(f"{name}\n{describe(result)}")  # noqa: T201 (a tool run by hand)
    calibrations = {name: result.calibration for name, result in fitted.items()}
    SHIPPED.write_bytes(orjson.dumps(calibrations, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    _ship()
