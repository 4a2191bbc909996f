"""How sure an answer is, and whether it is given: logistic calibration over what the stages saw.

    confidence = σ(w · (x − μ) / ς + b)

`x` are a few features of the question and its best candidates. The weights are fitted on questions whose answer is
known to be there or not; `threshold` turns the precision that an owner wants into a confidence below which the bot
says that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import ArrayLike, NDArray

FEATURES = (
    "title_similarity",
    "passage_similarity",
    "coverage",
    "title_coverage",
    "missing",
    "title_missing",
    "evidence",
    "margin",
    "words",
    "missing_name",
)
"""Cosines of the question with the best candidate's title and passage; the share of the question's information found
in the best candidate and in its title; the rarest word that is found in neither, and not in the title; the best's score
and how far it stands above the second; log of the number of informative words; the rarest name that is not found."""
HYBRID = ("title_similarity", "passage_similarity", "coverage", "missing_name")
"""What confidence is computed from where an encoder has a say. These few mean the same in any collection; what compares
the best candidate with others does not: in a large one, others are as near."""
KEYWORDS = ("coverage", "title_coverage", "missing_name")
"""What it is computed from where keywords alone were searched."""

Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """`precisions[i]` of the answers with a confidence of `thresholds[i]` or more were right when it was fitted."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    thresholds: tuple[float, ...] = ()
    precisions: tuple[float, ...] = ()

    def confidence(self, features: Features) -> float:
        """A probability in [0, 1]."""
        x = np.array([features.get(name, 0.0) for name in self.features])
        return float(_sigmoid(np.dot(self.weights, (x - self.mean) / self.deviation) + self.bias))

    def threshold(self, precision: float) -> float:
        """The lowest confidence from which on answers were right with the wanted precision, 1 where none was."""
        enough = [t for t, p in zip(self.thresholds, self.precisions, strict=True) if p >= precision]
        return min(enough, default=1.0)

    def save(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(self, option=orjson.OPT_INDENT_2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        return cls.of(orjson.loads(path.read_bytes()))

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Calibration:
        """From what `orjson` reads of a saved one."""
        lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        return cls(bias=told["bias"], **lists)


def fit(
    rows: Sequence[Features],
    right: Sequence[bool],
    *,
    names: Sequence[str] = FEATURES,
    weights: ArrayLike | None = None,
    penalty: float = 1.0,
    steps: int = 50,
) -> Calibration:
    """Logistic regression by Newton's method over the features `names`, with an L2 penalty on the weights.

    Args:
        weights: how often each row counts, (N,); once by default.

    Raises:
        ValueError: all labels are alike, so that there is nothing to tell apart.
    """
    y = np.asarray(right, float)
    if not 0 < y.sum() < len(y):
        raise ValueError(f"Expected right and wrong examples, but got {int(y.sum())} right of {len(y)}.")
    x = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    n = _counts(weights, len(rows))
    mean = np.average(x, axis=0, weights=n)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=n))
    deviation[deviation == 0] = 1.0
    z = np.column_stack([(x - mean) / deviation, np.ones(len(x))])
    ridge = np.diag([penalty] * len(names) + [0.0])
    w = np.zeros(z.shape[1])
    for _ in range(steps):
        p = _sigmoid(z @ w)
        gradient = z.T @ (n * (y - p)) - ridge @ w
        hessian = (z * (n * p * (1 - p))[:, None]).T @ z + ridge
        step = np.linalg.solve(hessian + 1e-9 * np.eye(len(w)), gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    return Calibration(
        tuple(names), tuple(mean.tolist()), tuple(deviation.tolist()), tuple(w[:-1].tolist()), bias=float(w[-1])
    )


def cross_validated(
    rows: Sequence[Features],
    right: Sequence[bool],
    groups: Sequence[str],
    *,
    names: Sequence[str] = FEATURES,
    weights: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> tuple[Calibration, NDArray[np.float64]]:
    """A calibration fitted on everything, its threshold table from held-out confidences; also those confidences.

    Rows of one group never stand on both sides of a split. Each row counts `weights` times, (N,), in fits and table.
    """
    n = _counts(weights, len(rows))
    order = np.random.default_rng(seed).permutation(sorted(set(groups)))
    fold_of = {group: i % folds for i, group in enumerate(order)}
    fold = np.array([fold_of[group] for group in groups])
    held_out = np.zeros(len(rows))
    for each in range(folds):
        train = [i for i in range(len(rows)) if fold[i] != each]
        fitted = fit([rows[i] for i in train], [right[i] for i in train], names=names, weights=n[train])
        held_out[fold == each] = [fitted.confidence(row) for row, f in zip(rows, fold, strict=True) if f == each]
    whole = fit(rows, right, names=names, weights=n)
    thresholds, precisions = precision_table(held_out, right, weights=n)
    return Calibration(
        whole.features, whole.mean, whole.deviation, whole.weights, whole.bias, thresholds, precisions
    ), held_out


def precision_table(
    confidences: NDArray[np.float64], right: Sequence[bool], *, weights: ArrayLike | None = None, least: int = 10
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Thresholds in steps of .01 and the precision of what lies above, never falling as the threshold rises.

    Thresholds that fewer than `least` answers reach are left out: their precision says nothing.
    """
    labels, n = np.asarray(right, float), _counts(weights, len(right))
    table = [(t / 100, confidences >= t / 100) for t in range(100)]
    kept = [(t, float(np.average(labels[a], weights=n[a]))) for t, a in table if a.sum() >= least]
    thresholds = tuple(t for t, _ in kept)
    return thresholds, tuple(np.maximum.accumulate([p for _, p in kept]).round(4).tolist())


def _counts(weights: ArrayLike | None, size: int) -> NDArray[np.float64]:
    return np.ones(size) if weights is None else np.asarray(weights, np.float64)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))
