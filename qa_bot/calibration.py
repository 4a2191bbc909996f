"""Where a calibration of confidence comes from: shipped for the starter encoder, made once for any other.

The starter collection comes with questions that it answers and questions that it does not (off-topic, near misses,
nonsense). `calibrate` asks them all and fits; folds keep the questions of one answer together.
`python -m qa_bot.calibration` makes the shipped file anew and prints how well it tells the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import orjson

from qa_bot.confidence import Calibration, Features, cross_validated
from qa_bot.config import Config
from qa_bot.deadline import Deadline
from qa_bot.generations import Generations
from qa_bot.home import Home
from qa_bot.index import Index
from qa_bot.pipeline import Calibrations, Engine, Pipeline
from qa_bot.starter import COLLECTION, FOLDER, NAME, QUESTIONS
from qa_core.types import Encoder, Question

SHIPPED = FOLDER / "confidence.json"
KEYWORD = "keyword"
"""Name of the calibration for answers that no encoder had a say in."""


class Asked(NamedTuple):
    """A calibration question, and the document that answers it (empty where none does)."""

    question: str
    document: str


class Fitted(NamedTuple):
    calibration: Calibration
    confidences: np.ndarray  # held out, (N,)
    right: list[bool]
    asked: list[Asked]


def calibration_for(encoder: Encoder | None, models: Path) -> Calibration:
    """The calibration of an encoder: shipped, or made by `ensure`; else that of keyword search alone."""
    shipped = _read(SHIPPED)
    if encoder is None:
        return shipped[KEYWORD]
    if encoder.fingerprint in shipped:
        return shipped[encoder.fingerprint]
    made = _made(encoder, models)
    return Calibration.load(made) if made.exists() else shipped[KEYWORD]


def ensure(encoder: Encoder, models: Path) -> None:
    """Calibrate for an encoder that has no calibration yet: about a thousand questions are asked."""
    path = _made(encoder, models)
    if path.exists() or encoder.fingerprint in _read(SHIPPED):
        return
    fitted = calibrate(encoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.calibration.save(path)


def questions() -> list[Asked]:
    """The questions of the starter collection itself, their paraphrases, and what it does not answer."""
    own = [Asked(row["question"], row["id"]) for row in _lines(COLLECTION)]
    return own + [Asked(row["question"], row["answer"] or "") for row in _lines(QUESTIONS)]


def calibrate(encoder: Encoder, *, engine: Engine = "hybrid") -> Fitted:
    """Fit on the starter questions: an answer is right when the first document is the one wanted."""
    from qa_bot.changes import add  # late: only calibration writes

    asked = questions()
    rows: list[Features] = []
    right: list[bool] = []
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="qa-bot-calibration-"))
        workers = stack.enter_context(ThreadPoolExecutor(4))
        home, config = Home.open(Path(folder)), Config()
        add(home, config, encoder, [COLLECTION], collection=NAME)
        generation = stack.enter_context(Generations(home.index).pin_current())
        assert generation is not None
        pipeline = Pipeline(Index(generation), encoder, Calibrations(_UNDECIDED, _UNDECIDED), config, workers)
        for question, document in asked:
            ranking = pipeline.rank(Question(question), deadline=Deadline.after(60), engine=engine)
            rows.append(pipeline.features(ranking))
            found = ranking.candidates[0].passage.source.document if ranking.candidates else None
            right.append(bool(document) and found == document)
    groups = [document or f"unanswered {i}" for i, (_, document) in enumerate(asked)]
    calibration, confidences = cross_validated(rows, right, groups)
    return Fitted(calibration, confidences, right, asked)


def describe(fitted: Fitted) -> str:
    """Share of right first documents, and what is kept and let through at some thresholds, held out."""
    right, answerable = np.array(fitted.right), np.array([bool(a.document) for a in fitted.asked])
    lines = [f"right first document for {right[answerable].mean():.3f} of {answerable.sum()} answerable questions"]
    for precision in (0.5, 0.7, 0.8, 0.9, 0.95):
        threshold = fitted.calibration.threshold(precision)
        given = fitted.confidences >= threshold
        lines.append(
            f"wanted precision {precision:.2f}: threshold {threshold:.2f}, precision {right[given].mean():.3f}, "
            f"right answers given {given[right].mean():.3f}, unanswerable answered {given[~answerable].mean():.3f}"
        )
    return "\n".join(lines)


_UNDECIDED = Calibration((), (), (), (), 0.0)


def _made(encoder: Encoder, models: Path) -> Path:
    return models / f"confidence-{encoder.fingerprint[:32]}.json"


def _read(path: Path) -> dict[str, Calibration]:
    return {name: Calibration.of(told) for name, told in orjson.loads(path.read_bytes()).items()}


def _lines(path: Path) -> Iterable[dict[str, str]]:
    return map(orjson.loads, path.read_bytes().splitlines())


def _ship() -> None:
    from qa_bot.encoders import resolve

    encoder = resolve("starter", models=Path())
    fitted = {KEYWORD: calibrate(encoder, engine="keyword"), encoder.fingerprint: calibrate(encoder)}
    for name, each in fitted.items():
        print(f"{name}\n{describe(each)}")  # noqa: T201 (a tool run by hand)
    told = {name: each.calibration for name, each in fitted.items()}
    SHIPPED.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    _ship()
