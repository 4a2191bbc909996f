"""What a study of replies has found: a row of measures for each system, differences of systems, and replies to read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qa_core.measures.metrics import Difference, Score, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED
from qa_lab.evaluate.report import Row, markdown
from qa_lab.studies.study_systems import StudyQuestion

READ = 20
"""Questions whose first reply is shown, of each system."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How much higher a system's measure is than another's, question by question."""

    measure: str
    system: str
    other: str
    difference: Difference

    @classmethod
    def of(cls, measure: str, system: str, other: str, scores: Mapping[str, Mapping[str, Score]]) -> Relation:
        """`scores` are those of systems, by measure."""
        left, right = (scores[name][measure].per_query for name in (system, other))
        return cls(measure, system, other, paired_bootstrap(left, right, seed=SEED))

    @property
    def text(self) -> str:
        told = self.difference
        p = f"p {told.p:.3f}" if told.p >= LEAST_P else f"p < {LEAST_P}"
        return (
            f"{self.measure}: {self.system} − {self.other} = {told.difference:+.3f} "
            f"[{told.low:+.3f}, {told.high:+.3f}], {p}"
        )


@dataclass(frozen=True, slots=True)
class StudyReport:
    rows: tuple[Row, ...]
    relations: tuple[Relation, ...]
    classifiers: Mapping[str, Score]  # of each persona, accuracy on texts that were not learnt from
    asked: tuple[StudyQuestion, ...]
    said: Mapping[str, Sequence[Sequence[str]]]  # by system, replies to each question
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON; of the replies those that are read."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "relations": [_told(relation) for relation in self.relations],
            "classifiers": {
                name: {
                    "accuracy": _finite(score.mean),
                    "accuracy_se": _finite(score.standard_error),
                    "texts": len(score.per_query),
                }
                for name, score in self.classifiers.items()
            },
            "samples": [
                {"system": name, "question": question, "hint": hint, "reply": reply}
                for name, (question, hint, reply) in self.read()
            ],
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """Markdown: a line a system, then the differences, the classifiers and the notes."""
        lines = [markdown(self.rows), ""]
        lines += [f"- {relation.text}" for relation in self.relations]
        lines += [
            f"- classifier of {name}: accuracy {score.mean:.3f} ± {score.standard_error:.3f} on "
            f"{len(score.per_query):,} texts"
            for name, score in self.classifiers.items()
        ]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def samples(self, count: int = READ) -> str:
        """First replies of each system to questions drawn by chance, good and bad, the same ones for all."""
        made: dict[str, list[str]] = {}
        for name, (question, hint, reply) in self.read(count):
            made.setdefault(name, [f"## {name}"]).append(f"- {question} [{hint}]\n  → {reply}")
        return "\n\n".join("\n".join(lines) for lines in made.values())

    def read(self, count: int = READ) -> list[tuple[str, tuple[str, str, str]]]:
        """System, question, hint and first reply."""
        places = sorted(np.random.default_rng(SEED).permutation(len(self.asked))[:count].tolist())
        return [
            (name, (self.asked[place].question, self.asked[place].hint, replies[place][0]))
            for name, replies in self.said.items()
            for place in places
        ]


def _told(relation: Relation) -> dict[str, Any]:
    told = relation.difference
    return {
        "measure": relation.measure,
        "system": relation.system,
        "other": relation.other,
        "difference": round(told.difference, 6),
        "low": round(told.low, 6),
        "high": round(told.high, 6),
        "p": told.p,
    }


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
