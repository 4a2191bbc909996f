"""Topics for the decoder: where on a counting grid a hint falls, read beside every word (Wang 2018, ch. 8.5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generators.topics.counting_grid import CountingGrid, Hint
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray

TopicHint = str | int
"""A text, or the number of a cell, row-major: then all topics are in that cell, δ_k."""
_GOLDEN = (5**0.5 - 1) / 2
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

    def topic(self, *hints: TopicHint) -> FloatArray:
        """`p(k | hint)` of each hint that is a cell or has a known word, (H, E); uniform, (1, E), if none is.

        Raises IndexError for a cell outside the grid.
        """
        return np.stack(self._topics(hints) or [self.grid.posterior("").probabilities])

    def scanned(self, count: int) -> tuple[int, ...]:
        """Up to `count` cells, spread over the grid: a lattice of rank one, whose columns step by the golden ratio."""
        height, width = self.grid.config.shape
        count = min(count, height * width)
        places = np.arange(count)
        rows = places * height // count
        columns = (places * _GOLDEN % 1 * width).astype(np.int64)
        return tuple(dict.fromkeys((rows * width + columns).tolist()))

    def agreement(self, texts: Sequence[str], hints: Sequence[TopicHint]) -> FloatArray:
        """`log E Σ_k p(k|text) p(k|hint)`, (N,): how much likelier than chance it is that both come from one cell.

        The best over several hints; 0 if no hint has a known word. Not in Wang (2018), where hints only steer.
        """
        posteriors = self._topics(hints)
        if not posteriors or not texts:
            return np.zeros(len(texts), dtype=np.float32)
        shared = self.grid.posteriors(texts) @ np.stack(posteriors).T * self.grid.config.cells  # (N, H)
        agreement: FloatArray = np.log(np.maximum(shared.max(axis=1), LEAST)).astype(np.float32)
        return agreement

    def _topics(self, hints: Sequence[TopicHint]) -> list[FloatArray]:
        """Distributions (E,) of hints, without those that have no known word."""
        posteriors = [self._cell(hint) if isinstance(hint, int) else self.grid.posterior(hint) for hint in hints]
        return [hint.probabilities for hint in posteriors if hint.steers]

    def _cell(self, cell: int) -> Hint:
        """δ_k of a cell."""
        cells = self.grid.config.cells
        if not 0 <= cell < cells:
            raise IndexError(
                f"Expected a cell of the topic grid from 0 to {cells - 1}, but got {cell}; choose another."
            )
        probabilities = np.zeros(cells, dtype=np.float32)
        probabilities[cell] = 1
        return Hint(probabilities, (str(cell),), ())
