"""The index of the recipe: vectors of passages and of units, BM25 over stems and over character 4-grams.

`F = minmax(passage) + minmax(sentence) + minmax(BM25) + ½ minmax(characters) − .3 if the document is old`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qa_core.types import Encoder, FloatArray
from qa_lab.reference.bm25 import BM25
from qa_lab.reference.documents import Document
from qa_lab.reference.encoders import encode
from qa_lab.reference.passages import pack
from qa_lab.reference.spelling import Speller
from qa_lab.reference.units import all_units
from qa_lab.reference.words import character_grams, focus, is_english, stems

WEIGHTS = np.array([1.0, 1.0, 1.0, 0.5], dtype=np.float32)
"""Of passage vectors, sentence vectors, BM25 over stems, BM25 over character 4-grams."""
OLD_PENALTY = 0.3
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Evidence:
    """Signals of a question: `channels` (4, P) of the passages in the order of `WEIGHTS`, `units` (U,) cosines."""

    channels: FloatArray
    units: FloatArray


class RecipeIndex:
    """Everything in memory; a question costs a pass over all vectors."""

    def __init__(self, documents: Sequence[Document], encoder: Encoder) -> None:
        self._encoder = encoder
        self.units = list(all_units(documents))
        self.passages = pack(self.units)
        if not self.passages:
            raise ValueError("Expected documents with text, but got none; name others.")
        contexts = [(passage.context, passage.text) for passage in self.passages]
        self.texts = [f"{context}. {text}" for context, text in contexts]
        fields = [f"{context}\n{text}" for context, text in contexts]
        self._passage_vectors = encode(encoder, self.texts, side="answer")  # (P, D)
        self._unit_vectors = encode(encoder, [unit.text for unit in self.units], side="answer")  # (U, D)
        self.keywords, self._characters = BM25(fields, stems), BM25(fields, character_grams)
        self._speller = Speller(fields)
        self.old = np.array([passage.document.old for passage in self.passages], dtype=np.float32)  # (P,)

    def corrected(self, question: str) -> str:
        return self._speller.correct(question) if is_english(question) else question

    def evidence(self, question: str) -> Evidence:
        """Signals of a corrected question; of a long message the mean with those of its asking sentences."""
        signals, short = self._signals(question), focus(question)
        if short == question:
            return signals
        focused = self._signals(short)
        return _mean([signals.channels, focused.channels], [signals.units, focused.units])

    def mean_evidence(self, readings: Sequence[str]) -> Evidence:
        """The mean over several readings of a turn, each channel scaled to [0, 1] first."""
        signals = [self.evidence(reading) for reading in readings]
        return _mean([min_max(of.channels) for of in signals], [of.units for of in signals])

    def scores(self, evidence: Evidence) -> FloatArray:
        """F of each passage, (P,), at most 3.5."""
        return np.asarray(WEIGHTS @ min_max(evidence.channels) - OLD_PENALTY * self.old, dtype=np.float32)

    def _signals(self, question: str) -> Evidence:
        vector = encode(self._encoder, [question], side="question")[0]  # (D,)
        units = self._unit_vectors @ vector
        sentence = np.maximum.reduceat(units, [passage.first for passage in self.passages])
        words = (self.keywords.scores(question), self._characters.scores(question))
        return Evidence(np.stack([self._passage_vectors @ vector, sentence, *words]), units)


def _mean(channels: Sequence[FloatArray], units: Sequence[FloatArray]) -> Evidence:
    return Evidence(*(np.asarray(np.stack(rows).mean(axis=0), dtype=np.float32) for rows in (channels, units)))


def min_max(rows: FloatArray) -> FloatArray:
    """Each row of (C, P) scaled so that its least value is 0 and its greatest 1; a constant row becomes 0."""
    least = rows.min(axis=-1, keepdims=True)
    span = rows.max(axis=-1, keepdims=True) - least
    return np.asarray((rows - least) / (span + _TINY), dtype=np.float32)
