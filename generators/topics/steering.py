"""Topics for the decoder: where on a counting grid a hint falls, heard beside every word (thesis, ch. 8.5.2).

In training a reply's own words are its hint. Half of the replies go without, since people seldom give one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from generators.topics.counting_grid import CountingGrid
from qa_core.networks.translator import Columns
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray

LEAST = 1e-3
"""Of an agreement, before the logarithm: one odd word is not the end of a text."""
SHARE = 0.5
"""Of the replies in training that come with their topics."""


@dataclass(frozen=True, eq=False)
class Steering:
    """A grid in the words of a chat model. Letters: B texts, Q words, V words that the model knows, E cells."""

    grid: CountingGrid
    vocabulary: Vocabulary

    @cached_property
    def logs(self) -> Tensor:
        """log h of the model's words, 0 for those that the grid has not, (V, E); only training asks for it."""
        logs = np.zeros((len(self.vocabulary), self.grid.config.cells), dtype=np.float32)
        known = {number: word for number, word in enumerate(self.vocabulary.tokens) if word in self.grid.vocabulary}
        logs[list(known)] = self.grid.log_windows[self.grid.vocabulary.ids(known.values())]
        return torch.from_numpy(logs)

    def topic(self, *hints: str) -> Tensor:
        """`p(k | hint)` of each hint that has a known word, (H, E); uniform, (1, E), where none has."""
        told = [each for each in map(self.grid.posterior, hints) if each.steers] or [self.grid.posterior("")]
        return torch.from_numpy(np.stack([each.probabilities for each in told]))

    def agreement(self, texts: Sequence[str], hints: Sequence[str]) -> FloatArray:
        """`log E Σ_k p(k|text) p(k|hint)`, (N,): how much likelier the places of both are the same than by chance.

        Of several hints that of the best; 0 where no hint says anything. Beyond the thesis, where hints steer only.
        """
        told = [each.probabilities for each in map(self.grid.posterior, hints) if each.steers]
        if not told or not texts:
            return np.zeros(len(texts), dtype=np.float32)
        shared = self.grid.posteriors(texts) @ np.stack(told).T * self.grid.config.cells  # (N, H)
        found: FloatArray = np.log(np.maximum(shared.max(axis=1), LEAST)).astype(np.float32)
        return found

    def posteriors(self, target: Tensor, mask: Tensor) -> Tensor:
        """`p(k | words)` of word numbers (B, Q), (B, E); uniform where the grid knows none of them."""
        told = self.logs.to(target.device)[target] * mask.unsqueeze(-1)  # (B, Q, E)
        return told.sum(1).softmax(1)

    def steered(self, batch: Columns, rng: np.random.Generator | None = None) -> Columns:
        """The batch with the topics of its own targets; with a generator only `SHARE` of them, the others uniform."""
        topic = self.posteriors(batch.target, batch.target_mask)
        if rng is not None:
            left_out = torch.from_numpy(rng.random(len(batch)) >= SHARE)
            topic[left_out.to(topic.device)] = 1 / topic.shape[1]
        return replace(batch, topic=topic)
