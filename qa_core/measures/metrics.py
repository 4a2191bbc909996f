"""Measures of ranked lists and answers, each with its standard error and its value for every query.

Ranked lists are measured by ir-measures (trec_eval's figures); no other file imports it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from numpy.typing import NDArray

from qa_core.measures.runs import Qrels, Rankings, Run, rankings, run_of

MEASURES = ("AP", "RR", "P@1", "R@100", "R@1000", "nDCG@10", "RR@1000", "Success@1")
NAME = re.compile(r"(AP|RR|nDCG)(@[1-9]\d*)?|(P|R|Success)@[1-9]\d*")
BLOCK = 2**22
"""Random indexes drawn at a time by the bootstrap, so that its memory does not grow with the number of queries."""


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over queries; the mean of no queries and the standard error of fewer than two are NaN."""

    mean: float
    standard_error: float
    per_query: Mapping[str, float]

    @classmethod
    def of(cls, per_query: Mapping[str, float]) -> Score:
        values = list(per_query.values())
        return cls(float(np.mean(values)) if values else float("nan"), standard_error(values), per_query)


def standard_error(values: Sequence[float]) -> float:
    """`s / √n` with `s² = Σ(x − x̄)² / (n − 1)`; NaN for fewer than two values."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def evaluate(qrels: Qrels, run: Run, measures: Sequence[str] = MEASURES, *, relevant: int = 1) -> dict[str, Score]:
    """Measure a run over all judged queries: one without results, or without relevant documents, counts as 0.

    Args:
        measures: ir-measures names of the families AP, RR, P, R, nDCG and Success, such as `AP@100`.
        relevant: lowest grade that binary measures count as relevant; nDCG uses grades as gains, negative ones as 0.

    Raises:
        ValueError: for an unknown measure, no judgements, a NaN score, or a run without any judged query.
    """
    _check_overlap(qrels, run)
    parsed = {name: _measure(name, relevant) for name in measures}
    per_query = {measure: dict.fromkeys(qrels, 0.0) for measure in parsed.values()}
    grades = {query: {document: max(0, grade) for document, grade in of.items()} for query, of in qrels.items()}
    untied = run_of(rankings({query: scores for query, scores in run.items() if scores and query in qrels}))
    for metric in ir_measures.iter_calc(list(per_query), grades, untied):
        per_query[metric.measure][metric.query_id] = float(metric.value)
    return {name: Score.of(per_query[measure]) for name, measure in parsed.items()}


def liveqa(qrels: Qrels, ranked: Rankings, *, abstained: Collection[str] = ()) -> dict[str, Score]:
    """Every TREC LiveQA measure of the first documents, by its public name.

    `ranked` holds the lists before abstention; `abstained` holds the questions whose answer was withheld. `_forced`
    and `_condensed` ignore abstentions.
    """
    answered = {query: documents for query, documents in ranked.items() if query not in set(abstained)}
    return {
        "avg_score": avg_score(qrels, answered),
        "avg_score_forced": avg_score(qrels, ranked),
        "avg_score_condensed": avg_score_condensed(qrels, ranked),
        "unjudged@1": unjudged_at_1(qrels, answered),
        **{f"succ@{i}+": succ_at(qrels, answered, i=i) for i in (2, 3, 4)},
        **{f"prec@{i}+": prec_at(qrels, answered, i=i) for i in (2, 3, 4)},
    }


def avg_score(qrels: Qrels, ranked: Rankings) -> Score:
    """Mean grade (0–3) of the first documents; 0 for unjudged, negatively judged and missing ones."""
    return Score.of({query: float(max(0, _first_grade(qrels, ranked, query))) for query in qrels})


def avg_score_condensed(qrels: Qrels, ranked: Rankings) -> Score:
    """`avg_score` of the lists without their unjudged documents."""
    judged = {query: [d for d in documents if d in qrels.get(query, {})] for query, documents in ranked.items()}
    return avg_score(qrels, judged)


def unjudged_at_1(qrels: Qrels, ranked: Rankings) -> Score:
    """The share of unjudged first documents, over answered questions."""
    return Score.of({query: float(ranked[query][0] not in qrels[query]) for query in _answered(qrels, ranked)})


def succ_at(qrels: Qrels, ranked: Rankings, *, i: int) -> Score:
    """succ@i+: the share of all questions whose first document has judgement `i` of 1–4, grade `i − 1`, or better."""
    return Score.of({query: float(_first_grade(qrels, ranked, query) >= i - 1) for query in qrels})


def prec_at(qrels: Qrels, ranked: Rankings, *, i: int) -> Score:
    """prec@i+: succ@i+ over answered questions."""
    answered = _answered(qrels, ranked)
    return Score.of({query: float(_first_grade(qrels, ranked, query) >= i - 1) for query in answered})


def accuracy(gold: Mapping[str, Hashable], predicted: Mapping[str, Hashable]) -> Score:
    """The share of gold labels that were predicted; a missing prediction is wrong."""
    return Score.of({key: float(key in predicted and predicted[key] == label) for key, label in gold.items()})


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Rank correlation with average ranks for ties; NaN if one side is constant."""
    from scipy.stats import spearmanr  # late: answering does not need it

    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"Expected two lists of one length, at least 2, but got {len(x)} and {len(y)} values.")
    if np.isnan(x).any() or np.isnan(y).any():
        raise ValueError("Expected numbers to correlate, but got NaN among them.")
    if min(x) == max(x) or min(y) == max(y):
        return float("nan")
    return float(spearmanr(x, y).statistic)


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its percentile interval and two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    a: Mapping[str, float], b: Mapping[str, float], *, seed: int, samples: int = 10_000, level: float = 0.95
) -> Difference:
    """Bootstrap test of whether `a` is better than `b` on the same queries.

    Queries are drawn with replacement. The interval holds the middle `level` of the mean differences. p is the share
    of mean differences, shifted to mean 0, that are at least as extreme as the observed one:
    `(1 + count) / (1 + samples)` (Efron and Tibshirani 1993, §16.4).

    Raises:
        ValueError: if `a` and `b` have different queries.
    """
    if a.keys() != b.keys() or not a:
        only = sorted(a.keys() ^ b.keys())[:3]
        raise ValueError(f"Expected values for the same queries, but got {len(a)} and {len(b)}; unpaired: {only}.")
    differences = np.array([a[query] - b[query] for query in sorted(a)])
    observed = float(differences.mean())
    means = _resampled_means(differences, samples, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    as_extreme = np.count_nonzero(np.abs(means - observed) >= abs(observed) - 1e-12)
    return Difference(observed, float(low), float(high), (1 + int(as_extreme)) / (1 + samples))


def _resampled_means(values: NDArray[np.float64], samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    rows = max(1, BLOCK // len(values))
    blocks = [min(rows, samples - start) for start in range(0, samples, rows)]
    return np.concatenate([values[rng.integers(len(values), size=(n, len(values)))].mean(axis=1) for n in blocks])


def _measure(name: str, relevant: int) -> ir_measures.Measure:
    if not NAME.fullmatch(name):
        raise ValueError(f"Expected a measure such as {', '.join(MEASURES)}, but got {name!r}.")
    measure = ir_measures.parse_measure(name)
    return measure if measure.NAME == "nDCG" else measure(rel=relevant)


def _check_overlap(qrels: Qrels, run: Run) -> None:
    if not qrels:
        raise ValueError("Expected judgements of at least one query, but got none; check the qrels.")
    if run and qrels.keys().isdisjoint(run):
        raise ValueError(
            f"Expected a run about the judged queries (such as {next(iter(qrels))!r}), but got only others (such as "
            f"{next(iter(run))!r}); check that run and qrels belong together."
        )


def _answered(qrels: Qrels, ranked: Rankings) -> list[str]:
    return [query for query in qrels if ranked.get(query)]


def _first_grade(qrels: Qrels, ranked: Rankings, query: str) -> int:
    """The grade of the first document; 0 if it is missing or unjudged."""
    documents = ranked.get(query)
    return qrels[query].get(documents[0], 0) if documents else 0
