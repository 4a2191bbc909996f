"""Report of a study of replies: a row of measures for each system, differences between systems, and sample replies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qa_core.measures.metrics import Difference, Score, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED
from qa_lab.evaluate.report import Row, markdown
from qa_lab.studies.people.material import Case
from qa_lab.studies.study_systems import StudyQuestion

SAMPLES = 20
"""Questions with a sample reply of each system."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Difference between two systems on a measure, paired by question."""

    measure: str
    system: str
    other: str
    difference: Difference

    @classmethod
    def of(cls, measure: str, system: str, other: str, scores: Mapping[str, Mapping[str, Score]]) -> Relation:
        """Compare two systems; `scores` maps system and measure to a score."""
        left, right = (scores[name][measure].per_query for name in (system, other))
        return cls(measure, system, other, paired_bootstrap(left, right, seed=SEED))

    @property
    def text(self) -> str:
        result = self.difference
        p = f"p {result.p:.3f}" if result.p >= LEAST_P else f"p < {LEAST_P}"
        return (
            f"{self.measure}: {self.system} − {self.other} = {result.difference:+.3f} "
            f"[{result.low:+.3f}, {result.high:+.3f}], {p}"
        )

    def as_dict(self) -> dict[str, Any]:
        result = self.difference
        return {
            "measure": self.measure,
            "system": self.system,
            "other": self.other,
            "difference": round(result.difference, 6),
            "low": round(result.low, 6),
            "high": round(result.high, 6),
            "p": result.p,
        }


@dataclass(frozen=True, slots=True)
class StudyReport:
    rows: tuple[Row, ...]
    relations: tuple[Relation, ...]
    classifiers: Mapping[str, Score]  # cross-validated accuracy of each persona's style classifier
    questions: tuple[StudyQuestion, ...]
    replies: Mapping[str, Sequence[Sequence[str]]]  # by system, replies to each question
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON, with sample replies only."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "relations": [relation.as_dict() for relation in self.relations],
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
                for name, (question, hint, reply) in self.first_replies()
            ],
            "notes": list(self.notes),
        }

    def cases(self) -> list[Case]:
        """All replies, to be rated by people."""
        return [
            Case(
                str(number),
                question.question,
                question.hint,
                {name: tuple(replies[number]) for name, replies in self.replies.items()},
            )
            for number, question in enumerate(self.questions)
        ]

    def text(self) -> str:
        """Markdown: a table of the systems, then the differences, classifiers and notes."""
        lines = [markdown(self.rows), ""]
        lines += [f"- {relation.text}" for relation in self.relations]
        lines += [
            f"- classifier of {name}: accuracy {score.mean:.3f} ± {score.standard_error:.3f} on "
            f"{len(score.per_query):,} texts"
            for name, score in self.classifiers.items()
        ]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def samples(self, count: int = SAMPLES) -> str:
        """First replies of each system to randomly chosen questions, as Markdown; all systems share the questions."""
        sections: dict[str, list[str]] = {}
        for name, (question, hint, reply) in self.first_replies(count):
            sections.setdefault(name, [f"## {name}"]).append(f"- {question} [{hint}]\n  → {reply}")
        return "\n\n".join("\n".join(lines) for lines in sections.values())

    def first_replies(self, count: int = SAMPLES) -> list[tuple[str, tuple[str, str, str]]]:
        """System, then question, hint and first reply, for up to `count` randomly chosen questions."""
        indices = sorted(np.random.default_rng(SEED).permutation(len(self.questions))[:count].tolist())
        return [
            (name, (self.questions[index].question, self.questions[index].hint, replies[index][0]))
            for name, replies in self.replies.items()
            for index in indices
        ]


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
