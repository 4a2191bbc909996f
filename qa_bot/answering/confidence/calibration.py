"""Confidence in an answer, and the threshold below which it is withheld: a logistic model of a few features.

    confidence = σ(w · (x − μ) / ς + b)

`x` are features of the question and its best candidates. `logistic_regression.py` fits the weights to questions with
known answers. `threshold` turns the precision that an owner wants into the lowest confidence of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

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
    "separation",
    "agreement",
    "covered",
    "mean_covered",
    "relevance",
)
"""Features of a question and its best candidate, in order:
cosine with the title, cosine with the passage; share of the question's information in the candidate, and in its title;
weight of the rarest word missing from both, and of the rarest missing from the title; the candidate's score, and its
lead over the second; log of the number of informative words; weight of the rarest name that is missing; the lead of
the first passage over the mean of the next nine, and its root, less if there are few passages; how far the first
passage covers the question's words by meaning, and the mean of all passages that were read; the
log-odds that it answers, of the network or of a cross-encoder."""
PASSAGES = ("coverage", "agreement", "words", "missing_name")
"""Features of ranked passages."""
VERIFIED = ("covered", "mean_covered", "coverage", "agreement", "words", "missing_name")
"""Features of ranked passages that were read."""
SCORED = ("relevance", *VERIFIED)
"""Features of ranked passages that were read and scored."""
HYBRID = ("title_similarity", "passage_similarity", "coverage", "missing_name")
"""Features for searches with an encoder. They mean the same in every collection; comparisons with other candidates do
not, because in a large collection more candidates are similar."""
KEYWORDS = ("coverage", "title_coverage", "missing_name")
"""Features for keyword searches."""

Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted model, with the precision of answers above each threshold.

    At fitting, `precisions[i]` of the answers with a confidence of at least `thresholds[i]` were right.
    """

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
        z = np.dot(self.weights, (x - self.mean) / self.deviation) + self.bias
        return float(1 / (1 + np.exp(-np.clip(z, -30, 30))))

    def threshold(self, precision: float) -> float:
        """The lowest threshold that reached the precision; 1 if none did."""
        enough = [t for t, p in zip(self.thresholds, self.precisions, strict=True) if p >= precision]
        return min(enough, default=1.0)

    def save(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(self, option=orjson.OPT_INDENT_2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        return cls.of(orjson.loads(path.read_bytes()))

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Calibration:
        """From the JSON object of a saved calibration."""
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(bias=fields["bias"], **lists)


class Calibrations(NamedTuple):
    """Of answers found with the encoder, and of answers found by keywords alone."""

    hybrid: Calibration
    keyword: Calibration
    passages: Calibration  # of ranked passages
    passages_by_words: Calibration
    verified: Calibration  # of ranked passages that were read
    verified_by_words: Calibration
    scored: Calibration | None = None  # of ranked passages that were scored, if the model has one
    scored_by_words: Calibration | None = None
