"""Where a calibration of confidence comes from: shipped for the starter encoder, made once for any other.

The starter collection comes with questions that it answers and questions that it does not (off-topic, near misses,
nonsense). `calibrate` asks them all, and those that it answers once more where their document is held out: then the
nearest one is wrong, as mostly in a collection that the asker does not know. Both kinds count the same in all. Folds
keep the questions of one document together. `python -m qa_bot.answering.confidence.fit` makes the shipped file
anew and prints how well it tells the two apart.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import orjson

from qa_bot.answering.confidence.calibration import HYBRID, KEYWORDS, Calibration, Features, cross_validated
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.pipeline import Calibrations, Engine, Pipeline
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import COLLECTION, FOLDER, NAME, QUESTIONS
from qa_core.types import Encoder, Question

SHIPPED = FOLDER / "confidence.json"
KEYWORD = "keyword"
"""Name of the calibration for answers that no encoder had a say in."""
FITTING = 2
"""Part of the names of fitted files: raise it when the way of fitting changes, so that all is fitted anew."""
PARTS = 10
"""Of the documents one in so many is held out at a time."""
ANSWERED, HELD_OUT = "answered", "held out"


class Asked(NamedTuple):
    """A calibration question, and the document that answers it (empty where none does)."""

    question: str
    document: str
    kind: str = ANSWERED


class Seen(NamedTuple):
    """A question with what the stages said of its first document, and whether that was the one wanted."""

    asked: Asked
    features: Features
    right: bool


class Fitted(NamedTuple):
    calibration: Calibration
    confidences: np.ndarray  # held out, (N,)
    seen: list[Seen]


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
    """Calibrate for an encoder that has no calibration yet: about two thousand questions are asked."""
    path = _made(encoder, models)
    if path.exists() or encoder.fingerprint in _read(SHIPPED):
        return
    fitted = calibrate(encoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.calibration.save(path)


def questions() -> list[Asked]:
    """The questions of the starter collection itself, their paraphrases, and what it does not answer."""
    own = [Asked(row["question"], row["id"]) for row in _lines(COLLECTION)]
    return own + [Asked(row["question"], row["answer"] or "", row.get("kind", ANSWERED)) for row in _lines(QUESTIONS)]


def calibrate(encoder: Encoder, *, engine: Engine = "hybrid") -> Fitted:
    """Fit on the starter questions: an answer is right when the first document is the one wanted."""
    seen = _seen(encoder, engine)
    answered = np.array([each.asked.kind == ANSWERED for each in seen])
    weights = np.where(answered, 1.0, answered.sum() / (~answered).sum())
    groups = [each.asked.document or f"unanswered {place}" for place, each in enumerate(seen)]
    names = KEYWORDS if engine == "keyword" else HYBRID
    rows, right = [each.features for each in seen], [each.right for each in seen]
    calibration, confidences = cross_validated(rows, right, groups, names=names, weights=weights)
    return Fitted(calibration, confidences, seen)


def _seen(encoder: Encoder, engine: Engine) -> list[Seen]:
    """Every question asked of the whole collection, and the answered ones of what is left without their document."""
    from qa_bot.documents.sync import add, delete  # late: only calibration writes

    asked = questions()
    held_out = [each._replace(kind=HELD_OUT) for each in asked if each.kind == ANSWERED]
    documents = np.random.default_rng(0).permutation(sorted({each.document for each in held_out}))
    config = Config()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="qa-bot-calibration-")))
        workers = stack.enter_context(ThreadPoolExecutor(4))
        home = Home.open(folder / "whole")
        add(home, config, encoder, [COLLECTION], collection=NAME)
        seen = [*_ask(home, encoder, engine, asked, workers)]
        for part in range(PARTS):
            without = set(documents[part::PARTS].tolist())
            rest = Home.open(Path(shutil.copytree(home.path, folder / str(part))))
            delete(rest, config, encoder, ids=sorted(without))
            seen += _ask(rest, encoder, engine, [each for each in held_out if each.document in without], workers)
            shutil.rmtree(rest.path)
    return seen


def _ask(
    home: Home, encoder: Encoder, engine: Engine, asked: Iterable[Asked], workers: ThreadPoolExecutor
) -> Iterator[Seen]:
    with Generations(home.index).pin_current() as generation:
        assert generation is not None
        pipeline = Pipeline(Index(generation), encoder, Calibrations(_UNDECIDED, _UNDECIDED), Config(), workers)
        for each in asked:
            ranking = pipeline.rank(Question(each.question), deadline=Deadline.after(60), engine=engine)
            found = ranking.candidates[0].passage.source.document if ranking.candidates else ""
            yield Seen(each, pipeline.features(ranking), bool(found) and found == each.document)


def describe(fitted: Fitted) -> str:
    """Share of right first documents, and what is kept and let through at some thresholds, held out."""
    right = np.array([each.right for each in fitted.seen])
    kinds = np.array([each.asked.kind for each in fitted.seen])
    answered = kinds == ANSWERED
    lines = [f"right first document for {right[answered].mean():.3f} of {answered.sum()} answered questions"]
    for precision in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        threshold = fitted.calibration.threshold(precision)
        given = fitted.confidences >= threshold
        let_through = ", ".join(f"{kind} {given[kinds == kind].mean():.3f}" for kind in _others(kinds.tolist()))
        lines.append(
            f"wanted precision {precision:.2f}: threshold {threshold:.2f}, right answers given "
            f"{given[right].mean():.3f}, unanswered ones given: {let_through}"
        )
    return "\n".join(lines)


def _others(kinds: Sequence[str]) -> list[str]:
    """The kinds of what is not answered, in the order of asking."""
    return [kind for kind in dict.fromkeys(kinds) if kind != ANSWERED]


_UNDECIDED = Calibration((), (), (), (), 0.0)


def _made(encoder: Encoder, models: Path) -> Path:
    return models / f"confidence-{FITTING}-{encoder.fingerprint[:32]}.json"


def _read(path: Path) -> dict[str, Calibration]:
    return {name: Calibration.of(told) for name, told in orjson.loads(path.read_bytes()).items()}


def _lines(path: Path) -> Iterable[dict[str, str]]:
    return map(orjson.loads, path.read_bytes().splitlines())


def _ship() -> None:
    from qa_bot.home.encoders import resolve

    encoder = resolve("starter", models=Path())
    fitted = {KEYWORD: calibrate(encoder, engine="keyword"), encoder.fingerprint: calibrate(encoder)}
    for name, each in fitted.items():
        print(f"{name}\n{describe(each)}")  # noqa: T201 (a tool run by hand)
    told = {name: each.calibration for name, each in fitted.items()}
    SHIPPED.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    _ship()
