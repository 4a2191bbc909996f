"""Fits the shipped confidence of ranked passages to several collections of questions with known answers.

    QA_BOT_DATA=… python -m qa_lab.fit.fit_passage_confidence [--only KEY …] [--cross-encoder FOLDER]

It asks the development collections (`passage_rows`) with all searches, by the table's vectors and by the better ones,
and with keywords alone; without reading the first passages, and with. Where the shipped network also scores them, it
asks every collection of the repository. An answer is right if it holds every gold text. All collections weigh the same;
questions whose documents are hidden weigh a tenth and count in no figure. It prints how each collection fares with a
calibration of the others, and writes the calibrations of all.

With a trained cross-encoder, which scores in place of the network, it writes the calibrations into its folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from qa_bot.answering.confidence.calibration import PASSAGES as UNREAD_FEATURES
from qa_bot.answering.confidence.calibration import SCORED as SCORED_FEATURES
from qa_bot.answering.confidence.calibration import VERIFIED as FEATURES
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.confidence.logistic_regression import fit, precision_table
from qa_bot.answering.fit_confidence import KEYWORD, PASSAGES, SCORED, VERIFIED
from qa_bot.answering.relevance.passage_scorer import CALIBRATIONS
from qa_bot.home.config import Config
from qa_bot.home.encoders import STARTER
from qa_lab.fit.passage_rows import REPOSITORY, Row, by_collection, collections, every_collection, rows_of
from qa_lab.reference.encoders import choose

HIDDEN_WEIGHT = 0.1
WANTED = (0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
OTHER_ENCODER = "starter-transformer"
"""Configured for an index of the starter's vectors, it leaves keywords alone."""
TENTHS = 10


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask, by its key among the calibrations, with its configuration and the features it is judged by.

    `improved` says with which vectors it is asked: the table's, the better ones, or with each.
    """

    key: str
    flags: dict[str, Any]
    features: tuple[str, ...]
    improved: tuple[bool, ...] = (False,)
    every: bool = False  # whether all collections of the repository are asked


WAYS = (
    Way("hybrid", {"ranking.effort": "low"}, UNREAD_FEATURES, (False, True)),
    Way(KEYWORD, {"ranking.effort": "low", "dense.encoder": OTHER_ENCODER}, UNREAD_FEATURES),
    Way(f"hybrid {VERIFIED}", {"ranking.relevance": False}, FEATURES, (False, True)),
    Way(f"{KEYWORD} {VERIFIED}", {"ranking.relevance": False, "dense.encoder": OTHER_ENCODER}, FEATURES),
    Way(f"hybrid {SCORED}", {}, SCORED_FEATURES, (False, True), every=True),
    Way(f"{KEYWORD} {SCORED}", {"dense.encoder": OTHER_ENCODER}, SCORED_FEATURES, every=True),
)


def scored_ways(cross_encoder: Path) -> tuple[Way, ...]:
    """The ways with the scores of a cross-encoder."""
    flags = {"ranking.cross_encoder": str(cross_encoder)}
    return (
        Way("hybrid", flags, SCORED_FEATURES, (False, True), every=True),
        Way(KEYWORD, {**flags, "dense.encoder": OTHER_ENCODER}, SCORED_FEATURES, every=True),
    )


def weights(rows: Sequence[Row]) -> NDArray[np.float64]:
    """The weights (N,) by which every collection has the same total, and hidden questions a tenth of others."""
    shares = np.array([HIDDEN_WEIGHT if row.hidden else 1.0 for row in rows])
    names = np.array([row.collection for row in rows])
    for name in set(names.tolist()):
        shares[names == name] /= shares[names == name].sum()
    return shares * len(rows) / len(set(names.tolist()))


def fitted(rows: Sequence[Row], names: Sequence[str]) -> Calibration:
    """A calibration of all rows, with thresholds from confidences of calibrations of the other collections."""
    confidences = held_out(rows, names)
    open_rows = [at for at, row in enumerate(rows) if not row.hidden]
    thresholds, precisions = precision_table(
        confidences[open_rows], [rows[at].right for at in open_rows], weights=weights([rows[at] for at in open_rows])
    )
    return replace(_fit(rows, names), thresholds=thresholds, precisions=precisions)


def held_out(rows: Sequence[Row], names: Sequence[str]) -> NDArray[np.float64]:
    """The confidence (N,) of each row by a calibration of the other collections."""
    confidences = np.zeros(len(rows))
    for collection in by_collection(rows):
        calibration = _fit([row for row in rows if row.collection != collection], names)
        for at, row in enumerate(rows):
            if row.collection == collection:
                confidences[at] = calibration.confidence(row.features)
    return confidences


def report(rows: Sequence[Row], names: Sequence[str]) -> str:
    """A line for each collection, judged by the others, and the mean score by wanted precision."""
    scores: dict[float, list[float]] = {precision: [] for precision in WANTED}
    lines = []
    confidences = held_out(rows, names)
    for collection in by_collection(rows):
        others = fitted([row for row in rows if row.collection != collection], names)
        members = [at for at, row in enumerate(rows) if row.collection == collection and not row.hidden]
        questions, sure = [rows[at] for at in members], confidences[members]
        right = np.array([row.right for row in questions])
        answers = sure >= others.threshold(Config().answer.precision)
        error = reliability_error(sure, right)
        given_right = float(right[answers].mean()) if answers.any() else 0.0
        lines.append(
            f"{collection}: AUC {roc_auc_score(right, sure):.3f}, precision {given_right:.3f}, answered "
            f"{answers.mean():.3f}, score {score(questions, answers):.3f}, error of tenths {error:.3f}"
        )
        for precision in WANTED:
            scores[precision].append(score(questions, sure >= others.threshold(precision)))
    means = ", ".join(f"{precision:.2f}: {np.mean(of):.4f}" for precision, of in scores.items())
    return "\n".join([*lines, f"mean score by wanted precision: {means}"])


def score(rows: Sequence[Row], answers: NDArray[np.bool_]) -> float:
    """Mean points if these rows (N,) are answered and the others refused."""
    return float(np.mean([row.points if yes else row.refused for row, yes in zip(rows, answers, strict=True)]))


def reliability_error(confidences: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Mean over the rows (N,) of how far the confidence of their tenth is from the share of right answers in it."""
    tenths = np.minimum((confidences * TENTHS).astype(int), TENTHS - 1)
    return float(sum(abs((right - confidences)[tenths == tenth].sum()) for tenth in range(TENTHS)) / len(right))


def _fit(rows: Sequence[Row], names: Sequence[str]) -> Calibration:
    return fit([row.features for row in rows], [row.right for row in rows], names=names, weights=weights(rows))


def main() -> None:
    """Fit all calibrations and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cross-encoder", type=Path, help="folder of the cross-encoder whose scores are fitted")
    parser.add_argument("--only", nargs="+", metavar="KEY", help="calibrations to fit; others stay")
    arguments = parser.parse_args()
    cross_encoder: Path | None = arguments.cross_encoder
    ways = scored_ways(cross_encoder) if cross_encoder else WAYS
    keys = [way.key for way in ways]
    if unknown := {*(arguments.only or ())}.difference(keys):
        parser.error(f"--only: expected {' or '.join(map(repr, keys))}, but got {min(unknown)!r}")
    out = cross_encoder / CALIBRATIONS if cross_encoder else PASSAGES
    calibrations = orjson.loads(out.read_bytes()) if arguments.only and out.exists() else {}
    for way in ways:
        if arguments.only and way.key not in arguments.only:
            continue
        rows = [
            row
            for collection in collections(every_collection() if way.every else REPOSITORY)
            for improved in way.improved
            for row in rows_of(collection, choose(STARTER), way.flags, improved=improved)
            if row.features
        ]
        print(f"{way.key}\n{report(rows, way.features)}")  # noqa: T201 (a tool run by hand)
        calibrations[way.key] = fitted(rows, way.features)
    out.write_bytes(orjson.dumps(calibrations, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
