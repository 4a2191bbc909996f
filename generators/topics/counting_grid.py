"""The counting grid (Jojic and Perina 2011; Wang 2018, ch. 8.5.1): topics on a torus where neighbours are alike.

Every cell i of the torus E has a distribution π_i over words. A bag of words comes from one window W_k around a cell k,
each word from a cell of the window at random:

    h_k(z) = 1/|W| Σ_{i ∈ W_k} π_i(z)                    (eq. 8.3)
    p(w | k) = Π_n h_k(w_n)                              (eq. 8.4)

So that one odd word does not rule every window out, a small share β of h is the words' distribution in all texts; with
β = 0 the model is that of Wang (2018). Windows are equally likely before a word is seen.

    grid = CountingGrid.load(folder)
    grid.posterior("a walk on the beach").probabilities   # (E,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from generators.topics.grid_map import GridMap, cell_words
from generators.topics.sparse_cells import SparseCells
from generators.topics.torus import window_sums
from qa_core.networks.checkpoints import load_config, load_vocabulary, load_weights, save_model
from qa_core.networks.vocabulary import Vocabulary
from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray

TINY = 1e-30
"""In place of a likelihood of nothing, whose logarithm is not finite."""
BLOCK = 1024
"""Words whose windows are summed at once: 10 MB at 32 × 32 cells."""


@dataclass(frozen=True, slots=True)
class GridConfig:
    """Sizes of a grid. Raises ValueError for sizes that do not fit."""

    height: int = 32  # cells
    width: int = 32  # cells
    window: int = 5  # cells on each side of the square W
    background: float = 0.2  # β, the share of each window that is the distribution of all texts

    def __post_init__(self) -> None:
        if not 1 <= self.window <= min(self.height, self.width):
            raise ValueError(
                f"Expected a window of at least 1 cell that fits into the grid, but got window {self.window} in "
                f"{self.height} × {self.width} cells; make it smaller."
            )
        if not 0 <= self.background < 1:
            raise ValueError(f"Expected a background from 0 to below 1, but got {self.background}; try 0.2.")

    @property
    def shape(self) -> tuple[int, int]:
        return self.height, self.width

    @property
    def cells(self) -> int:
        """E"""
        return self.height * self.width


@dataclass(frozen=True, slots=True)
class Hint:
    """The posterior of a text on the grid."""

    probabilities: FloatArray  # (E,), p(k | text), row-major
    known: tuple[str, ...]  # the words that tell where
    unknown: tuple[str, ...]  # the words that the grid has none of

    @property
    def steers(self) -> bool:
        """Whether any word was known; without one, all windows are equally likely."""
        return bool(self.known)

    def notice(self) -> str | None:
        """The notice to the user if the hint has no effect."""
        if self.steers:
            return None
        named = ", ".join(self.unknown[:5]) or "no words"
        return f"Expected a hint with words that the grid knows, but got {named}; it steers nothing: use other words."


@dataclass(frozen=True)
class CountingGrid:
    config: GridConfig
    vocabulary: Vocabulary  # without <unk>
    sparse: SparseCells  # π_i(z) at [z, i] (V, E); sums to 1 over words
    background: FloatArray  # (V,), the words' distribution in all texts
    _maps: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, config: GridConfig, vocabulary: Vocabulary, cells: FloatArray, background: FloatArray) -> Self:
        """A grid of dense cells π (V, E)."""
        return cls(config, vocabulary, SparseCells.of(cells), background)

    @cached_property
    def cells(self) -> FloatArray:
        """π, dense (V, E): 34 MB for 8,000 words on 32 × 32 cells."""
        return self.sparse.rows(np.arange(len(self.sparse)))

    @cached_property
    def log_windows(self) -> FloatArray:
        """log h_k(z) at [z, k]. (V, E)"""
        return log_windows(self.cells, self.background, self.config)

    def posterior(self, text: str) -> Hint:
        """p(k | text); uniform if no word of it is known."""
        distinct = list(dict.fromkeys(words(text)))
        known = tuple(word for word in distinct if word in self.vocabulary)
        unknown = tuple(word for word in distinct if word not in self.vocabulary)
        return Hint(self.posteriors([text])[0], known, unknown)

    def posteriors(self, texts: Sequence[str]) -> FloatArray:
        """p(k | text) of each text. (N, E)"""
        scores = self._scores(texts)
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares.astype(np.float32)

    def log_likelihoods(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """log p(text) = log 1/E Σ_k p(text | k) over the known words of each text, natural logarithm. (N,)"""
        scores = self._scores(texts)
        highest = scores.max(axis=1, keepdims=True)
        log_p: NDArray[np.float64] = np.log(np.exp(scores - highest).mean(axis=1)) + highest[:, 0]
        return log_p

    def map(self, hint: str = "", *, words: int = 5) -> GridMap:
        """The grid to show: the most characteristic words of each cell, and the posterior of a hint."""
        posterior = self.posterior(hint) if hint else None
        return GridMap(
            height=self.config.height,
            width=self.config.width,
            window=self.config.window,
            words=self._shown(words),
            hint=hint,
            posterior=None if posterior is None else posterior.probabilities,
            notice=None if posterior is None else posterior.notice(),
        )

    def _shown(self, words: int) -> tuple[tuple[str, ...], ...]:
        """The most characteristic words of each cell, by `π_i(z) log π_i(z)/p(z)`; p is that of all texts."""
        if words not in self._maps:
            lift = np.log(np.maximum(self.cells, TINY) / np.maximum(self.background[:, None], TINY))
            self._maps[words] = cell_words(self.cells * lift, self.vocabulary.tokens, words)
        return self._maps[words]

    def pruned(self, floor: float) -> Self:
        """The grid without probabilities below `floor`, which are many and weigh little; renormalised."""
        large = np.where(self.cells < np.minimum(floor, self.cells.max(axis=0)), 0, self.cells)
        cells = (large / large.sum(axis=0)).astype(np.float32)
        return self.of(self.config, self.vocabulary, cells, self.background)

    def save(self, folder: Path, *, card: str) -> None:
        """Write config, vocabulary, weights and card; see `qa_core.networks.checkpoints.save_model`.

        Only the shares of π above 0 are written, see `SparseCells`.
        """
        weights: dict[str, NDArray[Any]] = {
            "starts": self.sparse.starts,
            "places": self.sparse.indices,
            "shares": self.sparse.shares,
            "background": self.background,
        }
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError without a grid, ValueError for a damaged one or another model."""
        config = load_config(folder, GridConfig)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        weights = load_weights(folder)
        try:
            cells = SparseCells.checked(weights, len(vocabulary), config.cells)
            if weights["background"].shape != (len(vocabulary),):
                raise ValueError(f"{len(weights['background'])} words instead of {len(vocabulary)}")
        except (KeyError, ValueError, IndexError) as error:
            raise ValueError(f"{folder}: Expected the weights of this grid, but got others: {error}.") from None
        return cls(config, vocabulary, cells, weights["background"])

    def _scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """log p(text | k). (N, E)"""
        numbered = [self.vocabulary.ids(words(text)) for text in texts]
        known = np.unique(np.array([number for ids in numbered for number in ids], dtype=np.int64))
        table = self._logs(known)  # (words, E)
        scores = np.zeros((len(texts), self.config.cells))
        for row, ids in zip(scores, numbered, strict=True):
            row += table[np.searchsorted(known, ids)].sum(axis=0, dtype=np.float64)
        return scores

    def _logs(self, ids: IntArray) -> NDArray[np.floating]:
        """log h of some words; from the table of all words if it exists or pays off. (words, E)"""
        if len(ids) > BLOCK or "log_windows" in vars(self):
            return self.log_windows[ids]
        return log_windows(self.sparse.rows(ids), self.background[ids], self.config)


def windows(cells: NDArray[np.floating], background: NDArray[np.floating], config: GridConfig) -> NDArray[np.float64]:
    """h_k(z) of some words, from π (N, E) and their shares of all texts (N,). (N, E)"""
    within = window_sums(cells, config.shape, config.window) / config.window**2
    return (1 - config.background) * within + config.background * background[:, None]


def log_windows(
    cells: NDArray[np.floating], background: NDArray[np.floating], config: GridConfig
) -> NDArray[np.floating]:
    """log h_k(z) in the precision of π. (V, E)"""
    logs = np.empty_like(cells)
    for first in range(0, len(cells), BLOCK):
        part = slice(first, first + BLOCK)
        logs[part] = np.log(np.maximum(windows(cells[part], background[part], config), TINY))
    return logs
