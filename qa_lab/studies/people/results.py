"""What the judges say: mean opinion scores, shares of replies in style and on topic, agreement, significance.

As in Wang (2018), tables 8.3 and 8.4, the standard error of a mean opinion score is over ratings. Ratings of one case
are not independent, so differences to the baseline are tested over cases: each case has the mean of its ratings, the
interval is a bootstrap's, and p is that of a randomisation test.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qa_core.measures.agreement import interval, krippendorff_alpha
from qa_core.measures.metrics import Difference, paired_bootstrap, standard_error
from qa_core.measures.significance import LEAST_P, SEED, randomisation_test
from qa_lab.studies.people.answers import Rating
from qa_lab.studies.people.forms import StudyKey

Value = Callable[[Rating], float | None]
MEASURES: Mapping[str, Value] = {
    "quality": lambda rating: None if rating.quality is None else float(rating.quality),
    "style": lambda rating: None if rating.style is None else float(rating.style),
    "topic": lambda rating: None if rating.topic is None else float(rating.topic),
}


@dataclass(frozen=True, slots=True)
class Opinion:
    """The ratings of a system on a measure."""

    system: str
    measure: str
    ratings: int
    mean: float  # of quality 1 to 5; of style and topic the share of ticked replies
    standard_error: float  # over ratings; NaN for a single one
    difference: Difference | None  # to the baseline, over cases that both have ratings of
    p: float | None  # of a randomisation test of that difference


@dataclass(frozen=True, slots=True)
class PeopleReport:
    baseline: str
    judges: int
    opinions: tuple[Opinion, ...]
    alpha: Mapping[str, float]  # Krippendorff's, by measure; NaN if it is undefined

    def as_dict(self) -> dict[str, Any]:
        """The object for JSON."""
        rows = []
        for opinion in self.opinions:
            row: dict[str, Any] = {"system": opinion.system, "measure": opinion.measure, "ratings": opinion.ratings}
            row |= {"mean": _finite(opinion.mean), "se": _finite(opinion.standard_error)}
            if opinion.difference is not None:
                difference = opinion.difference
                row |= {"difference": round(difference.difference, 6), "low": round(difference.low, 6)}
                row |= {"high": round(difference.high, 6), "p": opinion.p}
            rows.append(row)
        alpha = {name: _finite(value) for name, value in self.alpha.items()}
        return {"baseline": self.baseline, "judges": self.judges, "alpha": alpha, "rows": rows}

    def text(self) -> str:
        """Markdown: a row for each system, then agreement."""
        names = [name for name in MEASURES if name in self.alpha]
        head = [f"{name} (MOS)" if name == "quality" else name for name in names]
        lines = [_row(["system", "ratings", *head]), _row(["---"] * (len(head) + 2))]
        for system in dict.fromkeys(opinion.system for opinion in self.opinions):
            by_measure = {opinion.measure: opinion for opinion in self.opinions if opinion.system == system}
            ratings = max(opinion.ratings for opinion in by_measure.values())
            lines.append(_row([system, str(ratings), *(_cell(by_measure.get(name)) for name in names)]))
        agreement = ", ".join(f"{name} {value:.3f}" for name, value in self.alpha.items())
        return "\n".join(
            [
                *lines,
                "",
                f"- differences to {self.baseline} with 95 % intervals, over conversations",
                f"- agreement of {self.judges} judges (Krippendorff's α): {agreement}",
            ]
        )


def report(ratings: Sequence[Rating], key: StudyKey) -> PeopleReport:
    """Figures of ratings; measures that were not asked, and systems without ratings, are left out."""
    opinions: list[Opinion] = []
    alpha: dict[str, float] = {}
    baseline = key.plan.baseline
    for name, value in MEASURES.items():
        rated = [(rating, number) for rating in ratings if (number := value(rating)) is not None]
        if not rated:
            continue
        units: defaultdict[tuple[str, str, int], list[float]] = defaultdict(list)
        values: defaultdict[str, list[float]] = defaultdict(list)
        by_case: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for rating, number in rated:
            item = rating.item
            units[item.case, item.system, item.reply].append(number)
            values[item.system].append(number)
            by_case[item.system][item.case].append(number)
        alpha[name] = krippendorff_alpha(units.values(), interval)
        opinions += [
            _opinion(system, name, values[system], by_case[system], by_case[baseline] if system != baseline else {})
            for system in key.systems
            if values[system]
        ]
    return PeopleReport(baseline, len({rating.judge for rating in ratings}), tuple(opinions), alpha)


def _opinion(
    system: str,
    measure: str,
    values: Sequence[float],
    cases: Mapping[str, Sequence[float]],
    baseline: Mapping[str, Sequence[float]],
) -> Opinion:
    shared = sorted(cases.keys() & baseline.keys())
    ours, theirs = ({case: float(np.mean(side[case])) for case in shared} for side in (cases, baseline))
    difference = paired_bootstrap(ours, theirs, seed=SEED) if shared else None
    p = randomisation_test([ours[case] - theirs[case] for case in shared], seed=SEED) if shared else None
    return Opinion(system, measure, len(values), float(np.mean(values)), standard_error(values), difference, p)


def _cell(opinion: Opinion | None) -> str:
    """`2.681 ± .049 (+.395 [.298, .492], p < .001)`; shares in per cent."""
    if opinion is None:
        return ""
    if opinion.measure == "quality":
        mean, scale, digits, unit = f"{opinion.mean:.3f} ± {opinion.standard_error:.3f}", 1.0, 3, ""
    else:
        mean, scale, digits, unit = f"{opinion.mean:.1%}", 100.0, 1, " points"
    if opinion.difference is None or opinion.p is None:
        return mean
    low, middle, high = (
        f"{scale * number:+.{digits}f}"
        for number in (opinion.difference.low, opinion.difference.difference, opinion.difference.high)
    )
    p = f"p {opinion.p:.3f}" if opinion.p >= LEAST_P else f"p < {LEAST_P}"
    return f"{mean} ({middle}{unit} [{low}, {high}], {p})"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
