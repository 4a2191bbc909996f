"""`eval liveqa --calibration`: does the bot know when it does not know?

Judged questions are mixed with as many that the collection does not answer. A first document is right from grade 1 on
(judgement 2 of 1–4), and never for a question off the topic. The confidence that `ask` gives stands first; the other
rows make it anew from the same questions, each by folds that did not see it.
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
from qa_lab.evaluate.evaluation_home import Asked, Flags, Progress, indexed, silent
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
RIGHT = 1
"""The least grade of a right first document."""
COVERAGE = 0.5
DRAWS = 1000
COMPARED_BY = "Brier"
CONFIDENCE, LOGIT = "confidence", "logit"
PRESENT = "present"
OFF_TOPIC = "off-topic:"


@dataclass(slots=True)
class Seen:
    """By question: what the stages said, and whether the first document was right; in the order of asking."""

    rows: list[Features] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


def evaluate_abstention(
    dataset: Dataset,
    *,
    off_topic: Path,
    engines: Sequence[SearchMode] = ("hybrid",),
    encoders: Sequence[str] = (),
    home: Path | None = None,
    flags: Flags | None = None,
    out: Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> list[Row]:
    """For each engine and encoder a row of the confidence as it is, then those made anew, compared by Brier score.

    Args:
        off_topic: a table, or a folder of tables, with questions that the collection does not answer.
        out: write `calibration.json`, `reliability.png` and `risk-coverage.png` here; several engines or encoders
            get a folder each, named by both.
        seed: of the draw of questions and of the folds.

    Raises:
        DatasetError: nothing of the data could be added; too few questions, or too few right or wrong answers.
    """
    others = draw_off_topic(off_topic, len(dataset.queries), seed=seed)
    found: list[list[Row]] = []
    given = indexed(
        [dataset.corpus],
        collection=dataset.name,
        judged=judged(dataset),
        home=home,
        encoders=encoders,
        flags=flags,
        progress=progress,
    )
    with given as data:
        for asked in data.systems(engines, encoders, calibrated=True):
            seen = _seen(asked, dataset, others, progress)
            confidences = _confidences(seen, _trained(asked.bot), seed)
            found.append(compared([_row(asked, dataset, *each, seen) for each in confidences.items()], COMPARED_BY))
            if out is not None:
                several = len(engines) > 1 or len(encoders) > 1
                name = "-".join(filter(None, (asked.system, Path(asked.encoder).name)))
                write(out / name if several else out, confidences, seen.right)
    return [row for rows in found for row in rows]


def scores(confidences: Floats, right: Sequence[bool], ids: Sequence[str]) -> dict[str, Score]:
    """Every measure of a confidence; `AURC_best` is what one would have that puts all right answers first."""
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
    """The curves of each confidence as numbers, and as pictures where matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, object] = {}
    bins, risks = {}, {}
    for name, each in confidences.items():
        table, (coverage, risk) = reliability(each, right), risk_coverage(each, right)
        curve = {"coverage": coverage.round(6).tolist(), "risk": risk.round(6).tolist()}
        told[name] = {"reliability": [asdict(b) for b in table], "risk_coverage": curve}
        bins[name] = (np.array([b.confidence for b in table]), np.array([b.accuracy for b in table]))
        risks[name] = (coverage, risk)
    (folder / "calibration.json").write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")
    try:
        _draw(folder, bins, risks)
    except ModuleNotFoundError as error:
        log.warning("%s", error)


def _draw(folder: Path, bins: Mapping[str, tuple[Floats, Floats]], risks: Mapping[str, tuple[Floats, Floats]]) -> None:
    from qa_core.measures.plots import draw_lines

    labels = {"x": "confidence", "y": "share of right answers"}
    draw_lines(folder / "reliability.png", bins, **labels, marked=True, diagonal=True)
    draw_lines(folder / "risk-coverage.png", risks, x="coverage", y="share of wrong answers among those given")


def _seen(asked: Asked, dataset: Dataset, others: Sequence[Question], progress: Progress) -> Seen:
    bot, engine, _ = asked
    assert engine != "plain", "only engines of the pipeline decide"
    corridor, trained = bot.corridor(), _trained(bot)
    seen = Seen()
    for done, (question, grades) in enumerate(_mixed(dataset, others), start=1):
        row, first = _features(corridor, question, engine, trained)
        seen.rows.append(row)
        seen.right.append(grades.get(first, 0) >= RIGHT)
        seen.ids.append(question.id if grades else f"{OFF_TOPIC}{question.id}")
        progress(f"asked of {engine}", done)
    return seen


def _mixed(dataset: Dataset, others: Sequence[Question]) -> Iterator[tuple[Question, Mapping[str, int]]]:
    """Each question with the grades of its documents; nothing is right for those off the topic."""
    for query in dataset.queries:
        yield query.question, dataset.qrels[query.question.id]
    for question in others:
        yield question, {}


def _features(
    corridor: Corridor, question: Question, engine: SearchMode, trained: Sequence[str]
) -> tuple[Features, str]:
    """What the stages said of the first document, and its id (empty where nothing was found)."""
    ranking = rank(corridor, question, engine=engine)
    decision = corridor.decide(ranking)
    told = ranking.candidates[0].signals.by_name() if ranking.candidates else {}
    own = {name: told[name] for name in trained if name in told}
    made = {CONFIDENCE: decision.confidence, LOGIT: logit(decision.confidence)}
    return {**decision.features, **own, **made}, next(iter(documents(ranking)), "")


def _trained(bot: Bot) -> list[str]:
    """What the trained rankers' scores are called."""
    return [each.name for each in bot.rankers.models] + [LEARNED] * (bot.rankers.fusion is not None)


def _confidences(seen: Seen, trained: Sequence[str], seed: int) -> dict[str, Floats]:
    """The present confidence (N,) and those made anew, held out, (N,) each."""
    stages = platt((*FEATURES, *trained))
    ways: dict[str, Fit] = {
        "Platt of present": platt((LOGIT,)),
        "isotonic of present": isotonic(CONFIDENCE),
        "Platt of stages": stages,
        "isotonic of stages": isotonic_after(stages),
    }
    present = np.array([row[CONFIDENCE] for row in seen.rows])
    try:
        return {PRESENT: present, **{n: held_out(way, seen.rows, seen.right, seed=seed) for n, way in ways.items()}}
    except ValueError as error:
        raise DatasetError(str(error)) from error


def _row(asked: Asked, dataset: Dataset, name: str, confidences: Floats, seen: Seen) -> Row:
    measured = scores(confidences, seen.right, seen.ids)
    system = f"{asked.system}, {name}"
    return Row(TASK, dataset.name, dataset.split, system, asked.encoder, len(seen.rows), measured)


def _drawn(measure: Callable[[Floats, Floats], float], confidences: Floats, right: Floats) -> Score:
    """A figure of all questions together, with the standard error of drawing them anew (bootstrap)."""
    size = len(right)
    places = np.random.default_rng(SEED).integers(size, size=(DRAWS, size))
    draws = [measure(confidences[each], right[each]) for each in places]
    return Score(measure(confidences, right), float(np.std(draws, ddof=1)), {})
