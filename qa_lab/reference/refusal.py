"""When the recipe refuses: by a threshold of F, or by gate A with MiniLM's token vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.text.analysis import terms
from qa_core.types import FloatArray
from qa_lab.reference.bm25 import BM25
from qa_lab.reference.words import ENGLISH

THRESHOLDS = {STARTER: 2.76}
OTHER_THRESHOLD = 3.06
"""Chosen with MiniLM on the collections `company` and `18f`."""
SHARPNESS = 8.0
NEIGHBOURS = slice(1, 10)


class Case(NamedTuple):
    """The first passage with its context, the readings of the turn, and F of all passages, best first."""

    text: str
    readings: Sequence[str]
    ranked: FloatArray


class Refusal(Protocol):
    def margin(self, case: Case) -> float:
        """At least 0 if the first passage should be given."""
        ...


@dataclass(frozen=True, slots=True)
class Threshold:
    """Gives the passage if F is at least `least`: if the channels agree on one passage."""

    least: float

    @classmethod
    def of(cls, encoder: str) -> Threshold:
        return cls(THRESHOLDS.get(encoder, OTHER_THRESHOLD))

    def margin(self, case: Case) -> float:
        return float(case.ranked[0]) - self.least


@dataclass(frozen=True, slots=True)
class LateInteractionGate:
    """Gives the passage if `7.5 soft + 1.1 lead + .15 n − 4.65 ≥ 0`.

    `soft` is a soft minimum over the n content words of the question of their highest cosine to a token of the passage
    (Khattab and Zaharia 2020, but a minimum instead of a sum); `lead` is F of the first passage less the mean of F at
    ranks 2–10. For several readings of a turn `soft` and n are means.
    """

    encoder: TransformerEncoder
    keywords: BM25

    def margin(self, case: Case) -> float:
        soft, words = self.soft_and_words(case)
        neighbours = case.ranked[NEIGHBOURS]
        lead = float(case.ranked[0]) - float(neighbours.mean()) if len(neighbours) else 0.0
        return float(7.5 * soft + 1.1 * lead + 0.15 * words - 4.65)

    def soft_and_words(self, case: Case) -> tuple[float, float]:
        """`soft` and n: means over the readings."""
        tokens = self._tokens(case.text)[1:-1]  # without special tokens, (T, D)
        soft, words = np.mean([self._soft_minimum(reading, tokens) for reading in case.readings], axis=0)
        return float(soft), float(words)

    def _tokens(self, text: str) -> FloatArray:
        """Unit rows of the last layer's states, (T, D)."""
        states = self.encoder.states([text])[0]
        return np.asarray(states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12))

    def _soft_minimum(self, question: str, tokens: FloatArray) -> tuple[float, int]:
        """`−ln(Σ w e^(−8 s) / Σ w) / 8` over content words with idf w and cosine s, and their number."""
        states = self.encoder.states([question])[0]
        offsets = self.encoder.tokeniser.tokenizer.encode(question).offsets
        cosines, weights = [], []
        for match in re.finditer(r"\w+", question):
            inside = [i for i, (a, b) in enumerate(offsets) if b > a >= match.start() and b <= match.end()]
            stem = terms(match[0], stop=False)
            if match[0].lower() in ENGLISH or not inside or not stem or not len(tokens):
                continue
            vector = states[inside].mean(axis=0)
            cosines.append(float((tokens @ (vector / np.linalg.norm(vector))).max()))
            weights.append(self.keywords.rarity(stem[0]))
        return soft_minimum(np.array(cosines), np.array(weights)), len(cosines)


def soft_minimum(values: FloatArray, weights: FloatArray) -> float:
    """Between the least value and the weighted mean, nearer to the least; 0 for no values."""
    if not len(values):
        return 0.0
    return float(-np.log((weights * np.exp(-SHARPNESS * values)).sum() / weights.sum()) / SHARPNESS)
