"""Topics for the decoder: where on a counting grid a hint falls, read beside every word (Wang 2018, ch. 8.5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generators.topics.counting_grid import CountingGrid
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray

LEAST = 1e-3
"""Lower bound of an agreement before its logarithm, so that one odd word does not rule a text out."""


@dataclass(frozen=True, eq=False)
class Steering:
    """A grid in the words of a chat model. Letters: N texts, H hints, V words of the model, E cells."""

    grid: CountingGrid
    vocabulary: Vocabulary

    @cached_property
    def logs(self) -> FloatArray:
        """log h of the model's words, 0 for words that the grid lacks, (V, E); only training needs it."""
        logs = np.zeros((len(self.vocabulary), self.grid.config.cells), dtype=np.float32)
        known = {number: word for number, word in enumerate(self.vocabulary.tokens) if word in self.grid.vocabulary}
        logs[list(known)] = self.grid.log_windows[self.grid.vocabulary.ids(known.values())]
        return logs

    def topic(self, *hints: str) -> FloatArray:
        """`p(k | hint)` of each hint that has a known word, (H, E); uniform, (1, E), if none has."""
        posteriors = [hint for hint in map(self.grid.posterior, hints) if hint.steers] or [self.grid.posterior("")]
        return np.stack([hint.probabilities for hint in posteriors])

    def agreement(self, texts: Sequence[str], hints: Sequence[str]) -> FloatArray:
        """`log E Σ_k p(k|text) p(k|hint)`, (N,): how much likelier than chance it is that both come from one cell.

        The best over several hints; 0 if no hint has a known word. Not in Wang (2018), where hints only steer.
        """
        posteriors = [hint.probabilities for hint in map(self.grid.posterior, hints) if hint.steers]
        if not posteriors or not texts:
            return np.zeros(len(texts), dtype=np.float32)
        shared = self.grid.posteriors(texts) @ np.stack(posteriors).T * self.grid.config.cells  # (N, H)
        agreement: FloatArray = np.log(np.maximum(shared.max(axis=1), LEAST)).astype(np.float32)
        return agreement
