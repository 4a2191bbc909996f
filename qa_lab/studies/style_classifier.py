"""Classifies a text's speaker by logistic regression over its words and pairs of words.

Features are binary and texts are cut to a common length, because sentences of speeches are longer than turns of
dialogues and length is not style. Punctuation is ignored, since it differs between files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from generators.conversation.detokenise import tokens
from qa_core.measures.metrics import Score
from qa_core.types import FloatArray
from qa_lab.evaluate.datasets import DatasetError

WORDS = 20
"""First words of a text that are used: generated replies are not longer."""
FOLDS = 5
_MIN_TEXTS = 2  # texts that contain a feature
_PENALTY = 1e-4  # of squared weights, bias included
_STEPS = 30
_CLOSE = 1e-8  # largest change in the last step
_TINY = 1e-12

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StyleClassifier:
    """Probability that a text is the speaker's, if half of all texts are. F features."""

    columns: dict[str, int]  # of features
    weights: Matrix  # (F + 1,), the bias last

    @classmethod
    def of(cls, speaker: Sequence[str], others: Sequence[str]) -> Self:
        """Train on texts of the speaker and as many others. Deterministic, since the loss has one minimum."""
        texts = [features(text) for text in (*speaker, *others)]
        counts = Counter(feature for text in texts for feature in text)
        frequent = sorted(feature for feature, count in counts.items() if count >= _MIN_TEXTS)
        columns = {feature: column for column, feature in enumerate(frequent)}
        rows = _matrix(texts, columns)
        labels = np.repeat([1.0, 0.0], [len(speaker), len(others)])
        return cls(columns, rows.T @ _fit(rows @ rows.T, labels))

    def probabilities(self, texts: Sequence[str]) -> FloatArray:
        """(N,), about one half for a text without known features."""
        rows = _matrix([features(text) for text in texts], self.columns)
        return _sigmoid(rows @ self.weights).astype(np.float32)


def features(text: str) -> list[str]:
    """Distinct words and pairs of adjacent words among the first `WORDS` words."""
    words = [word for word in tokens(text) if any(map(str.isalnum, word))][:WORDS]
    return list(dict.fromkeys((*words, *(f"{left} {right}" for left, right in pairwise(words)))))


def balanced(speaker: Sequence[str], others: Sequence[str], rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Random samples of equal size from both sides, in random order, without replacement.

    Raises DatasetError if a side has fewer texts than there are folds.
    """
    count = min(len(speaker), len(others))
    if count < FOLDS:
        raise DatasetError(
            f"Expected at least {FOLDS} sentences of a speaker and {FOLDS} turns of dialogues, but got {len(speaker)} "
            f"and {len(others)}; give more."
        )
    left, right = (rng.permutation(len(texts))[:count].tolist() for texts in (speaker, others))
    return [speaker[index] for index in left], [others[index] for index in right]


def cross_validated(speaker: Sequence[str], others: Sequence[str]) -> Score:
    """Cross-validated accuracy over `FOLDS` folds; both sides have the same length."""
    correct: dict[str, float] = {}
    for fold in range(FOLDS):
        train = [[text for index, text in enumerate(side) if index % FOLDS != fold] for side in (speaker, others)]
        classifier = StyleClassifier.of(*train)
        for name, side, label in (("speaker", speaker, True), ("other", others, False)):
            predicted = classifier.probabilities(side[fold::FOLDS]) >= 0.5
            correct |= {f"{name} {fold + n * FOLDS}": float(guess == label) for n, guess in enumerate(predicted)}
    return Score.of(correct)


def _matrix(texts: Sequence[Sequence[str]], columns: dict[str, int]) -> Matrix:
    """Features (N, F + 1): rows of unit length, or zero if no feature is known, then a one for the bias."""
    matrix = np.zeros((len(texts), len(columns) + 1))
    for row, text in enumerate(texts):
        known = [columns[feature] for feature in text if feature in columns]
        matrix[row, known] = 1 / np.sqrt(max(1, len(known)))
    matrix[:, -1] = 1.0
    return matrix


def _fit(products: Matrix, labels: Matrix) -> Matrix:
    """Coefficients (N,) of the texts in the weights, from the texts' inner products (N, N) and labels of 1 and 0.

    Newton's method for `mean log loss + penalty |w|²` with `w = Σ_n a_n x_n`: iteratively reweighted least squares
    (Hastie, Tibshirani and Friedman 2009, §4.4.1) with one unknown for each text.
    """
    ridge = 2 * _PENALTY * len(labels) * np.eye(len(labels))
    coefficients = np.zeros(len(labels))
    for _ in range(_STEPS):
        p = _sigmoid(products @ coefficients)
        scale = np.sqrt(np.maximum(p * (1 - p), _TINY))
        response = scale * (products @ coefficients) + (labels - p) / scale
        step = scale * np.linalg.solve(scale[:, None] * products * scale + ridge, response) - coefficients
        coefficients += step
        if np.abs(step).max() < _CLOSE:
            break
    return coefficients


def _sigmoid(logits: Matrix) -> Matrix:
    probabilities: Matrix = 1 / (1 + np.exp(-logits))
    return probabilities
