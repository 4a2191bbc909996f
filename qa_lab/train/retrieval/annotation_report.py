"""Result of cross-encoder annotation: the comparison and its contrasts, as JSON, text and Markdown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from qa_core.measures.metrics import Difference
from qa_lab.train.card import table
from qa_lab.train.verb import Outcome
from retrievers.training.annotation import Agreement

TITLES = {
    "given": "given labels",
    "intersection": "given labels ∩ cross-encoder",
    "top-1": "first found",
    "cross-encoder": "cross-encoder",
}
"""Sets of positive pairs by the folder of their encoder; those for labelled queries first."""
VERSUS = {"intersection": "given", "cross-encoder": "top-1"}
"""Each way of annotation, and its baseline."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A new bi-encoder by the labels it was trained on."""

    name: str
    pairs: int
    queries: int  # with a pair
    accuracy: float | None  # Success@1 on the test queries
    standard_error: float | None
    reason: str = ""  # why the accuracy is missing


@dataclass(frozen=True, slots=True)
class Contrast:
    """A new bi-encoder against its baseline, query by query."""

    baseline: str
    name: str
    all: Agreement
    ranges: tuple[Agreement, ...]  # of equal size, by the distance of the baseline's first result, nearest first
    difference: Difference


@dataclass(frozen=True, slots=True)
class CrossQuality:
    """The known cross-encoder: its development loss, and how it agrees with the given labels of the new queries."""

    pairs: int  # it was trained on
    positives: int  # of them
    loss: float | None
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class Improved:
    """The known models after training with the new labels."""

    bi_before: float  # Success@1
    bi_after: float
    cross_before: float | None  # loss on the known cross-encoder's development pairs
    cross_after: float | None
    pairs: int  # of the cross-encoder's training
    positives: int


@dataclass(frozen=True)
class AnnotationOutcome(Outcome):
    """Result on the test queries."""

    answers: int  # searched
    queries: dict[str, int]  # of each set
    test: int
    seed: int
    top: int
    known: float  # Success@1 of the known bi-encoder
    reach: float | None  # share of the new queries with a given answer among the candidates
    cross: CrossQuality
    rows: tuple[Trained, ...]
    contrasts: tuple[Contrast, ...]
    improved: Improved | None = None

    def as_dict(self) -> dict[str, object]:
        values = asdict(self)
        values["known"] = {"Success@1": self.known}
        values["rows"] = [
            {
                "name": row.name,
                "pairs": row.pairs,
                "queries": row.queries,
                "Success@1": row.accuracy,
                "Success@1_se": row.standard_error,
                **({"reason": row.reason} if row.reason else {}),
            }
            for row in self.rows
        ]
        return values

    def text(self, out: Path) -> str:
        lines = [
            f"{sum(self.queries.values()):,} queries for training, {self.test:,} for the test, "
            f"{self.answers:,} answers searched",
            f"known bi-encoder: S@1 {self.known:.3f}",
        ]
        lines += [
            f"{TITLES[row.name]}: {row.pairs:,} pairs of {row.queries:,} queries, "
            + (f"S@1 {row.accuracy:.3f}" if row.accuracy is not None else row.reason)
            for row in self.rows
        ]
        if self.improved:
            lines.append(f"labels fed back: known bi-encoder S@1 {self.improved.bi_after:.3f}")
        best = next((row.name for row in self.rows if row.name in VERSUS and row.accuracy is not None), None)
        lines.append(f"comparison: {out / 'comparison.md'}")
        return "\n".join([*lines, *([f"use it: qa-bot use {out / best}"] if best else [])]) + "\n"


def markdown(outcome: AnnotationOutcome) -> str:
    """The comparison as a Markdown page."""
    sets = ", ".join(f"{name} {count:,}" for name, count in outcome.queries.items())
    parts = [
        "# Bi-encoders by the labels they were trained on",
        f"Queries for training: {sets}. {outcome.test:,} test queries search {outcome.answers:,} answers; a first "
        f"answer that was given for the query is right. The {outcome.top} nearest answers of each new query were "
        f"judged. Seed {outcome.seed}.",
        table(
            ("labels", "pairs", "queries left", "S@1", "± SE"),
            [("none (known bi-encoder)", "", "", _figure(outcome.known), ""), *map(_row, outcome.rows)],
        ),
        _cross(outcome),
    ]
    for contrast in outcome.contrasts:
        parts.append(_contrast(contrast))
    if outcome.improved:
        parts.append(_improved(outcome.improved))
    return "\n\n".join(parts) + "\n"


def _row(row: Trained) -> tuple[str, ...]:
    figure = _figure(row.accuracy) if row.accuracy is not None else row.reason
    return TITLES[row.name], f"{row.pairs:,}", f"{row.queries:,}", figure, _figure(row.standard_error)


def _cross(outcome: AnnotationOutcome) -> str:
    cross = outcome.cross
    text = f"Known cross-encoder: {cross.pairs:,} training pairs, {cross.positives:,} of them matches"
    text += f"; development loss {cross.loss:.3f}" if cross.loss is not None else ""
    if cross.precision is not None and cross.recall is not None:
        text += (
            f". Against the given labels of the new candidates: precision {cross.precision:.3f}, recall "
            f"{cross.recall:.3f}"
        )
    if outcome.reach is not None:
        text += f". A given answer is among the candidates of {outcome.reach:.1%} of the new queries"
    return text + "."


def _contrast(contrast: Contrast) -> str:
    baseline, name, difference = TITLES[contrast.baseline], TITLES[contrast.name], contrast.difference
    rows = [("all", contrast.all), *((f"{number}", cells) for number, cells in enumerate(contrast.ranges, 1))]
    return "\n\n".join(
        [
            f"## {name} against {baseline}",
            f"Difference in S@1 {difference.difference:+.3f} (95 % from {difference.low:+.3f} to "
            f"{difference.high:+.3f}, p = {difference.p:.3f}, paired bootstrap). Test queries by the system that is "
            f"right, and in ranges by the distance of the first result of “{baseline}”, nearest first:",
            table(
                ("range", "neither", f"only {baseline}", f"only {name}", "both"),
                [(what, *map(str, (e.neither, e.only_first, e.only_second, e.both))) for what, e in rows],
            ),
        ]
    )


def _improved(improved: Improved) -> str:
    rows = [
        ("bi-encoder, S@1", _figure(improved.bi_before), _figure(improved.bi_after)),
        ("cross-encoder, development loss", _figure(improved.cross_before), _figure(improved.cross_after)),
    ]
    return (
        "## New labels fed back into the known models\n\n"
        f"The cross-encoder saw {improved.pairs:,} pairs, {improved.positives:,} of them matches.\n\n"
        + table(("known model", "before", "after"), rows)
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
