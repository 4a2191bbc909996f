"""Fits a counting grid by expectation maximisation (Jojic and Perina 2011).

    E:  q_t(k) ∝ Π_n h_k(w_tn)
    M:  π_i(z) ∝ π_i(z) Σ_{k: i ∈ W_k} Σ_t q_t(k) c_t(z) / h_k(z),  c_t(z) occurrences of word z in bag t

Both sums over windows are taken from summed-area tables; both sums over texts are sparse products in mini-blocks, so
that memory does not grow with the texts. The likelihood of the texts rises at every step under one window. Fitting
begins with wide windows, which lay the topics out over the whole torus, and narrows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from generators.topics.counting_grid import BLOCK, TINY, CountingGrid, GridConfig, log_windows, windows
from generators.topics.torus import window_sums
from generators.topics.word_bags import Bags
from qa_core.networks.vocabulary import Vocabulary

BAGS = 4096
"""Bags of a mini-block: 16 MB of posteriors at 32 × 32 cells."""
Real = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class FitConfig:
    steps: int = 60  # of EM under the grid's own window, at most
    tolerance: float = 1e-4  # stops if a step gains less than this share of the log-likelihood
    patience: int = 3  # steps without a better held-out perplexity before it stops
    wide: tuple[int, ...] = (
        16,
        12,
        9,
        7,
        6,
    )  # windows before the final one; those that do not fit are skipped
    wide_steps: int = 4  # of EM under each of them

    def window(self, step: int, config: GridConfig) -> int:
        """The window of a step."""
        stages = self.stages(config)
        stage = step // max(self.wide_steps, 1)
        return stages[stage] if stage < len(stages) else config.window

    def stages(self, config: GridConfig) -> list[int]:
        """The wide windows that are used."""
        fitting = [window for window in self.wide if config.window < window <= min(config.shape)]
        return fitting if self.wide_steps else []

    def most(self, config: GridConfig) -> int:
        """Steps at most."""
        return len(self.stages(config)) * self.wide_steps + self.steps


@dataclass(frozen=True, slots=True)
class GridStep:
    """How good a grid is after some steps."""

    step: int
    window: int
    log_likelihood: float  # of all texts
    per_word: float  # of a word of them, natural logarithm
    held_out: float | None  # perplexity of a word of the held-out texts
    best: bool = False  # so far, under the grid's own window


@dataclass(slots=True)
class Fitting:
    """The state of a run between two steps."""

    config: GridConfig
    background: Real  # (V,)
    cells: Real  # (V, E), the current π
    best: Real  # (V, E), the best π
    step: int = 0  # steps done
    history: list[GridStep] = field(default_factory=list)

    def grid(self, vocabulary: Vocabulary) -> CountingGrid:
        """The best so far."""
        return CountingGrid.of(
            self.config, vocabulary, self.best.astype(np.float32), self.background.astype(np.float32)
        )


def initial_fitting(
    bags: Bags, size: int, config: GridConfig, *, seed: int, precision: Literal["float32", "float64"] = "float32"
) -> Fitting:
    """The start: every cell has the distribution of all texts, with random noise.

    Raises ValueError if there is no bag.
    """
    if not len(bags):
        raise ValueError("Expected texts with words of the vocabulary, but got none; lower the minimum or add texts.")
    counts = bags.counts(size) + TINY
    background = counts / counts.sum()
    noise = np.random.default_rng(seed).standard_exponential((size, config.cells), dtype=np.float32)
    cells = background[:, None] * noise
    cells = (cells / cells.sum(axis=0)).astype(precision)
    return Fitting(config, background.astype(precision), cells, cells)


def fit(fitting: Fitting, bags: Bags, config: FitConfig, *, held_out: Bags | None = None) -> Iterator[GridStep]:
    """Fit until the steps are done, a step gains little, or held-out texts become less likely.

    Yields the quality of the grid before each step, so that the first report is of the start. After a yield `fitting`
    can be saved, and fitted further later.
    """
    while True:
        now = replace(fitting.config, window=config.window(fitting.step, fitting.config))
        logs = log_windows(fitting.cells, fitting.background, now)
        expected, likelihood = expectation(bags, logs)
        if len(fitting.history) == fitting.step:
            perplexity = perplexity_of(held_out, logs) if held_out else None
            per_word = likelihood / bags.tokens
            _remember(fitting, GridStep(fitting.step, now.window, likelihood, per_word, perplexity))
            yield fitting.history[-1]
        if not _goes_on(fitting, config):
            return
        fitting.cells = updated(fitting.cells, expected, fitting.background, now)
        fitting.step += 1


def expectation(bags: Bags, logs: Real) -> tuple[Real, float]:
    """The E step: Σ_t q_t(k) c_t(z) at [z, k] (V, E), and the log-likelihood of all texts; `logs` is log h (V, E)."""
    expected, table = np.zeros_like(logs), torch.from_numpy(logs)
    likelihood = 0.0
    for block in bags.blocks(BAGS):
        posteriors, ours = _posteriors(block, table)
        likelihood += float(block.weights @ ours)
        posteriors *= torch.from_numpy(block.weights).to(posteriors)[:, None]
        _add_counts(expected, block, posteriors)
    return expected, likelihood


def perplexity_of(bags: Bags, logs: Real) -> float:
    """Of a word of texts under log h (V, E)."""
    table = torch.from_numpy(logs)
    likelihood = sum(float(block.weights @ _posteriors(block, table)[1]) for block in bags.blocks(BAGS))
    return float(np.exp(-likelihood / bags.tokens))


def updated(cells: Real, expected: Real, background: Real, config: GridConfig) -> Real:
    """The M step: new π (V, E); a cell that no text came from keeps its old one. Overwrites `expected`."""
    for first in range(0, len(cells), BLOCK):
        part = slice(first, first + BLOCK)
        ratio = expected[part] / np.maximum(windows(cells[part], background[part], config), TINY)
        expected[part] = cells[part] * window_sums(ratio, config.shape, config.window, backwards=True)
    totals = expected.sum(axis=0, dtype=np.float64)
    return np.where(totals > TINY, expected / np.maximum(totals, TINY), cells).astype(cells.dtype)


def _posteriors(block: Bags, table: Tensor) -> tuple[Tensor, NDArray[np.float64]]:
    """q (n, E), and the log-likelihood of each bag (n,), from log h (V, E)."""
    starts, words = torch.from_numpy(block.starts), torch.from_numpy(block.words)
    scores = embedding_bag(words, table, starts, mode="sum", include_last_offset=True)  # (n, E)
    sums = scores.logsumexp(dim=1)
    scores -= sums[:, None]
    return scores.exp_(), sums.double().numpy() - np.log(table.shape[1])


def _add_counts(expected: Real, block: Bags, posteriors: Tensor) -> None:
    """Add q (n, E) of every bag to the rows of its words."""
    order = np.argsort(block.words, kind="stable")
    bags = np.repeat(np.arange(len(block)), np.diff(block.starts))[order]
    words, starts = np.unique(block.words[order], return_index=True)
    sums = embedding_bag(torch.from_numpy(bags), posteriors, torch.from_numpy(starts), mode="sum")  # (words, E)
    torch.from_numpy(expected).index_add_(0, torch.from_numpy(words), sums)  # in place: they share memory


def _remember(fitting: Fitting, report: GridStep) -> None:
    """Without held-out texts the last grid is the best: the likelihood never falls."""
    final = [step for step in fitting.history if step.window == fitting.config.window and step.held_out is not None]
    before = min((step.held_out for step in final if step.held_out is not None), default=np.inf)
    best = report.held_out is None or (report.window == fitting.config.window and report.held_out < before)
    if best or not final:
        fitting.best = fitting.cells
    fitting.history.append(replace(report, best=best))


def _goes_on(fitting: Fitting, config: FitConfig) -> bool:
    if fitting.step >= config.most(fitting.config):
        return False
    final = [report for report in fitting.history if report.window == fitting.config.window]
    if len(final) < 2:
        return True
    if final[-1].step - max(report.step for report in final if report.best) >= config.patience:
        return False
    gains = [after.log_likelihood - before.log_likelihood for before, after in pairwise(final)]
    # a uniform grid gains little at first: a small gain ends the fit only after larger ones
    return gains[-1] > config.tolerance * abs(final[-1].log_likelihood) or 0 < gains[-1] == max(gains)
