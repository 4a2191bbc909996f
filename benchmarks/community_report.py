"""Rows and tables of `community_retrieval.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qa_core.measures.metrics import Score
from qa_lab.evaluate.community.task import MEASURES

NAMES = ("S@1", "MRR@1K", "R@10", "R@100", "R@1K")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table."""

    name: str
    scores: Mapping[str, Score]
    seconds: float  # training included
    pairs_a_second: float | None = None  # in training
    peak_mb: int = 0  # peak anonymous memory of the process
    best_epoch: int = 0

    def mean(self, measure: str, queries: Collection[str] | None = None) -> float:
        values = self.scores[measure].per_query
        return float(np.mean([values[query] for query in (values if queries is None else queries)]))


def table(lines: Sequence[Line]) -> str:
    head = ["", *NAMES, "pairs/s", "s", "MB"]
    rows = [
        [
            row.name,
            *(f"{row.mean(measure):.3f}" for measure in MEASURES),
            f"{row.pairs_a_second:,.0f}" if row.pairs_a_second else "",
            f"{row.seconds:,.0f}",
            f"{row.peak_mb:,}",
        ]
        for row in lines
    ]
    return markdown(head, rows)


def by_parts(lines: Sequence[Line], parts: Mapping[str, Collection[str]], measure: str) -> str:
    """A recall and MRR by parts of the questions."""
    short = measure.replace("000", "K")
    head = ["", *(f"{name} ({len(part):,}): {short}, MRR@1K" for name, part in parts.items())]
    rows = [
        [row.name, *(f"{row.mean(measure, p):.3f}, {row.mean('RR@1000', p):.3f}" if p else "" for p in parts.values())]
        for row in lines
    ]
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def row_json(row: Line, known: Collection[str], unknown: Collection[str]) -> dict[str, object]:
    figures: dict[str, object] = {"name": row.name, **{m: row.mean(m) for m in MEASURES}}
    figures |= {f"{m}_se": row.scores[m].standard_error for m in MEASURES}
    if known:
        figures |= {f"{m}_in_vocabulary": row.mean(m, known) for m in MEASURES}
    if known and unknown:
        figures |= {f"{m}_out_of_it": row.mean(m, unknown) for m in MEASURES}
    return figures | {name: getattr(row, name) for name in ("seconds", "pairs_a_second", "peak_mb", "best_epoch")}
