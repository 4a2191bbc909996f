"""Classifies a text's speaker by logistic regression over its words and pairs of words.

Features are binary, and all texts have about one length: sentences of speeches are longer than turns of dialogues, and
length is not style. Punctuation does not count, since files differ in it.
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
"""Of a text, its first: drawn replies are no longer."""
FOLDS = 5
_OFTEN = 2  # texts that a feature stands in at least
_PENALTY = 1e-4  # of squared weights, the bias included
_STEPS = 30
_CLOSE = 1e-8  # largest step of the last round

_TINY = 1e-12

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StyleClassifier:
    """The probability that a text is the speaker's, where half of all texts are. F features."""

    places: dict[str, int]
    weights: Matrix  # (F + 1,), the last for every text

    @classmethod
    def of(cls, speaker: Sequence[str], others: Sequence[str]) -> Self:
        """Learnt from texts of the speaker and as many others. The loss has one minimum: nothing is random."""
        texts = [features(text) for text in (*speaker, *others)]
        counts = Counter(feature for text in texts for feature in text)
        places = {feature: place for place, feature in enumerate(sorted(f for f, n in counts.items() if n >= _OFTEN))}
        told = _matrix(texts, places)
        right = np.repeat([1.0, 0.0], [len(speaker), len(others)])
        return cls(places, told.T @ _fitted(told @ told.T, right))

    def probabilities(self, texts: Sequence[str]) -> FloatArray:
        """(N,), about one half for a text of unknown words."""
        told = _matrix([features(text) for text in texts], self.places)
        return _sigmoid(told @ self.weights).astype(np.float32)


def features(text: str) -> list[str]:
    """Distinct words and pairs of neighbours among the first `WORDS`."""
    words = [word for word in tokens(text) if any(map(str.isalnum, word))][:WORDS]
    return list(dict.fromkeys((*words, *(f"{left} {right}" for left, right in pairwise(words)))))


def alike_many(speaker: Sequence[str], others: Sequence[str], rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """As many texts of both sides, drawn by chance without replacement in an order of chance.

    Raises DatasetError where a side has fewer texts than there are folds.
    """
    count = min(len(speaker), len(others))
    if count < FOLDS:
        raise DatasetError(
            f"Expected {FOLDS} sentences of a speaker and {FOLDS} turns of dialogues or more, but got {len(speaker)} "
            f"and {len(others)}; give more."
        )
    left, right = (rng.permutation(len(texts))[:count].tolist() for texts in (speaker, others))
    return [speaker[place] for place in left], [others[place] for place in right]


def cross_validated(speaker: Sequence[str], others: Sequence[str]) -> Score:
    """Accuracy on texts that each of `FOLDS` classifiers has not seen; both sides are of one length."""
    right: dict[str, float] = {}
    for fold in range(FOLDS):
        train = [[text for place, text in enumerate(side) if place % FOLDS != fold] for side in (speaker, others)]
        classifier = StyleClassifier.of(*train)
        for name, side, label in (("speaker", speaker, True), ("other", others, False)):
            told = classifier.probabilities(side[fold::FOLDS]) >= 0.5
            right |= {f"{name} {fold + number * FOLDS}": float(each == label) for number, each in enumerate(told)}
    return Score.of(right)


def _matrix(texts: Sequence[Sequence[str]], places: dict[str, int]) -> Matrix:
    """Rows of unit length, or zero where no feature is known, and a one behind each, (N, F + 1)."""
    made = np.zeros((len(texts), len(places) + 1))
    for row, text in enumerate(texts):
        known = [places[feature] for feature in text if feature in places]
        made[row, known] = 1 / np.sqrt(max(1, len(known)))
    made[:, -1] = 1.0
    return made


def _fitted(alike: Matrix, right: Matrix) -> Matrix:
    """How much of each text (N,) is in the weights; of texts' inner products (N, N) and labels of 1 and 0.

    Newton's method for `mean log loss + penalty |w|²` with `w = Σ_n a_n x_n`: steps of iteratively reweighted least
    squares (Hastie, Tibshirani and Friedman 2009, §4.4.1) among as many unknowns as there are texts.
    """
    ridge = 2 * _PENALTY * len(right) * np.eye(len(right))
    share = np.zeros(len(right))
    for _ in range(_STEPS):
        p = _sigmoid(alike @ share)
        scale = np.sqrt(np.maximum(p * (1 - p), _TINY))
        wanted = scale * (alike @ share) + (right - p) / scale
        step = scale * np.linalg.solve(scale[:, None] * alike * scale + ridge, wanted) - share
        share += step
        if np.abs(step).max() < _CLOSE:
            break
    return share


def _sigmoid(logits: Matrix) -> Matrix:
    found: Matrix = 1 / (1 + np.exp(-logits))
    return found
