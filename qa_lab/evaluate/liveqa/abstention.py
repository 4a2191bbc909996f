"""`eval liveqa --calibration`: quality of the confidence, and so of abstentions.

Judged questions are mixed with as many off-topic questions. A first document is right from grade 1 (judgement 2 of
1–4); for off-topic questions none is right. The first row is the confidence of `ask`; the others recalibrate it on the
same questions by cross-validation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import orjson

from qa_bot.answering.confidence.calibration import FEATURES, Features
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.stages.retrieve import SearchMode
from qa_bot.bot import Bot
from qa_core.measures.metrics import Score
from qa_core.measures.significance import SEED
from qa_core.types import Question
from qa_lab.evaluate.datasets import Dataset, DatasetError
from qa_lab.evaluate.evaluation_home import Flags, Progress, SystemUnderTest, evaluation_home, silent
from qa_lab.evaluate.liveqa.calibration_measures import (
    area_under_risk,
    calibration_error,
    precision_at,
    reliability,
    risk_coverage,
    squared_errors,
)
from qa_lab.evaluate.liveqa.off_topic import draw_off_topic
from qa_lab.evaluate.liveqa.recalibration import Fit, Floats, held_out, isotonic, isotonic_after, logit, platt
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.retrieval import judged
from qa_lab.evaluate.systems import documents, rank
from rankers.combination import LEARNED

log = logging.getLogger(__name__)

TASK = "liveqa, calibration"
ENGINES: tuple[SearchMode, ...] = ("hybrid",)
RIGHT = 1
"""Lowest grade of a right first document."""
COVERAGE = 0.5
DRAWS = 1000
COMPARED_BY = "Brier"
CONFIDENCE, LOGIT = "confidence", "logit"
PRESENT = "present"
OFF_TOPIC = "off-topic:"


@dataclass(slots=True)
class Observations:
    """Features of each question, and whether its first document was right."""

    rows: list[Features] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


def evaluate_abstention(
    dataset: Dataset,
    *,
    off_topic: Path,
    engines: Sequence[SearchMode] = ENGINES,
    encoders: Sequence[str] = (),
    home: Path | None = None,
    flags: Flags | None = None,
    out: Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> list[Row]:
    """For each engine and encoder, a row of the present confidence and rows of recalibrated ones, by Brier score.

    Args:
        off_topic: a table, or a folder of tables, of questions that the collection does not answer.
        out: folder for `calibration.json`, `reliability.png` and `risk-coverage.png`; with several engines or
            encoders, each pair has a subfolder.
        limit: largest number of questions, those of the dataset and off-topic ones.
        seed: seed of the sample of questions and of the folds.

    Raises:
        DatasetError: if no document could be added, or for too few questions or right or wrong answers.
    """
    count = len(dataset.queries) if limit is None else min(len(dataset.queries), max(0, limit - len(dataset.queries)))
    others = draw_off_topic(off_topic, count, seed=seed)
    rows: list[Row] = []
    opening = evaluation_home(
        [dataset.corpus],
        collection=dataset.name,
        judged=judged(dataset),
        home=home,
        encoders=encoders,
        flags=flags,
        progress=progress,
    )
    with opening as data:
        for tested in data.systems(engines, encoders, calibrated=True):
            observed = _observations(tested, dataset, others, progress)
            confidences = _confidences(observed, _trained(tested.bot), seed)
            rows += compared([_row(tested, dataset, *item, observed) for item in confidences.items()], COMPARED_BY)
            if out is not None:
                several = len(engines) > 1 or len(encoders) > 1
                name = "-".join(filter(None, (tested.system, Path(tested.encoder).name)))
                write(out / name if several else out, confidences, observed.right)
    return rows


def scores(confidences: Floats, right: Sequence[bool], ids: Sequence[str]) -> dict[str, Score]:
    """Every measure of a confidence; `AURC_best` is the AURC of a confidence that ranks all right answers first."""
    y = np.asarray(right, np.float64)
    errors = squared_errors(confidences, y)
    half = f"precision@{COVERAGE:.0%}"
    return {
        "ECE": _drawn(calibration_error, confidences, y),
        "Brier": Score.of(dict(zip(ids, errors.tolist(), strict=True))),
        "AURC": _drawn(area_under_risk, confidences, y),
        "AURC_best": _drawn(lambda _, drawn: area_under_risk(drawn, drawn), confidences, y),
        half: _drawn(lambda c, drawn: precision_at(c, drawn, coverage=COVERAGE), confidences, y),
        "right": Score.of(dict(zip(ids, y.tolist(), strict=True))),
    }


def write(folder: Path, confidences: Mapping[str, Floats], right: Sequence[bool]) -> None:
    """Write the curves of each confidence as numbers, and as pictures if matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    curves: dict[str, object] = {}
    bins, risks = {}, {}
    for name, confidence in confidences.items():
        table, (coverage, risk) = reliability(confidence, right), risk_coverage(confidence, right)
        curve = {"coverage": coverage.round(6).tolist(), "risk": risk.round(6).tolist()}
        curves[name] = {"reliability": [asdict(b) for b in table], "risk_coverage": curve}
        bins[name] = (np.array([b.confidence for b in table]), np.array([b.accuracy for b in table]))
        risks[name] = (coverage, risk)
    (folder / "calibration.json").write_bytes(orjson.dumps(curves, option=orjson.OPT_INDENT_2) + b"\n")
    try:
        _draw(folder, bins, risks)
    except ModuleNotFoundError as error:
        log.warning("%s", error)


def _draw(folder: Path, bins: Mapping[str, tuple[Floats, Floats]], risks: Mapping[str, tuple[Floats, Floats]]) -> None:
    from qa_core.measures.plots import draw_lines

    labels = {"x": "confidence", "y": "share of right answers"}
    draw_lines(folder / "reliability.png", bins, **labels, marked=True, diagonal=True)
    draw_lines(folder / "risk-coverage.png", risks, x="coverage", y="share of wrong answers among those given")


def _observations(
    tested: SystemUnderTest, dataset: Dataset, others: Sequence[Question], progress: Progress
) -> Observations:
    bot, engine, _ = tested
    assert engine != "plain", "only engines of the corridor decide"
    corridor, trained = bot.corridor(), _trained(bot)
    observed = Observations()
    for done, (question, grades) in enumerate(_mixed(dataset, others), start=1):
        row, first = _features(corridor, question, engine, trained)
        observed.rows.append(row)
        observed.right.append(grades.get(first, 0) >= RIGHT)
        observed.ids.append(question.id if grades else f"{OFF_TOPIC}{question.id}")
        progress(f"asked of {engine}", done)
    return observed


def _mixed(dataset: Dataset, others: Sequence[Question]) -> Iterator[tuple[Question, Mapping[str, int]]]:
    """Each question with the grades of its documents; off-topic questions have none."""
    for query in dataset.queries:
        yield query.question, dataset.qrels[query.question.id]
    for question in others:
        yield question, {}


def _features(
    corridor: Corridor, question: Question, engine: SearchMode, trained: Sequence[str]
) -> tuple[Features, str]:
    """Features of the first document, and its id (empty if no document was found)."""
    ranking = rank(corridor, question, engine=engine, verify=True)
    decision = corridor.decide(ranking)
    signals = ranking.candidates[0].signals.by_name() if ranking.candidates else {}
    scores = {name: signals[name] for name in trained if name in signals}
    present = {CONFIDENCE: decision.confidence, LOGIT: logit(decision.confidence)}
    return {**decision.features, **scores, **present}, next(iter(documents(ranking)), "")


def _trained(bot: Bot) -> list[str]:
    """Names of the trained rankers' scores."""
    return [ranker.name for ranker in bot.rankers.models] + [LEARNED] * (bot.rankers.fusion is not None)


def _confidences(observed: Observations, trained: Sequence[str], seed: int) -> dict[str, Floats]:
    """The present confidence (N,) and the recalibrated ones, held out, (N,) each."""
    stages = platt((*FEATURES, *trained))
    ways: dict[str, Fit] = {
        "Platt of present": platt((LOGIT,)),
        "isotonic of present": isotonic(CONFIDENCE),
        "Platt of stages": stages,
        "isotonic of stages": isotonic_after(stages),
    }
    present = np.array([row[CONFIDENCE] for row in observed.rows])
    try:
        made = {name: held_out(way, observed.rows, observed.right, seed=seed) for name, way in ways.items()}
    except ValueError as error:
        raise DatasetError(str(error)) from error
    return {PRESENT: present, **made}


def _row(tested: SystemUnderTest, dataset: Dataset, name: str, confidences: Floats, observed: Observations) -> Row:
    measured = scores(confidences, observed.right, observed.ids)
    system = f"{tested.system}, {name}"
    return Row(TASK, dataset.name, dataset.split, system, tested.encoder, len(observed.rows), measured)


def _drawn(measure: Callable[[Floats, Floats], float], confidences: Floats, right: Floats) -> Score:
    """A measure of all questions together, with its bootstrap standard error."""
    size = len(right)
    samples = np.random.default_rng(SEED).integers(size, size=(DRAWS, size))
    draws = [measure(confidences[sample], right[sample]) for sample in samples]
    return Score(measure(confidences, right), float(np.std(draws, ddof=1)), {})
