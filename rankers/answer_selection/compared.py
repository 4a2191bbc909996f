"""A trainable ranker by a compared network over frozen word vectors.

ranker = ComparedRanker.of(words, ComparedShape("mp-cnn"))
ranker.score([("where does she live", "she lives at home")])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.batching import batches
from qa_core.networks.checkpoints import load_config
from qa_core.types import FloatArray, IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
    load_network,
    load_words,
    read_texts,
    save_with_words,
)
from rankers.compared.networks import network_of
from rankers.compared.shape import ComparedShape
from rankers.neural import TextPair
from rankers.trainable import score_pairs

_POSITIONS = 1 << 11  # padded words per batch in scoring; some networks compare all words with all words


@dataclass(frozen=True, slots=True)
class ComparedConfig:
    words: WordsConfig
    shape: ComparedShape


@dataclass(frozen=True, eq=False)
class ComparedRanker:
    """A trainable pair scorer; scores are unbounded."""

    model: nn.Module
    source: FrozenWords
    config: ComparedConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: ComparedShape) -> Self:
        """An untrained ranker; global generators draw its weights. Raises ValueError for impossible sizes."""
        return cls(network_of(source.config.dimension, shape), source, ComparedConfig(source.config, shape))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        config = load_config(folder, ComparedConfig)
        ranker = cls.of(load_words(folder, config.words), config.shape)
        load_network(folder, ranker.model, ranker.source)
        ranker.model.eval()
        return ranker

    def save(self, folder: Path, *, card: str) -> None:
        save_with_words(folder, self.model, self.source, config=self.config, card=card)

    @property
    def parameters(self) -> int:
        """Number of trainable weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Texts:
        return read_texts(self.source, questions, answers, limit=self.config.shape.max_words)

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Scores (N,), in batches of pairs of similar length."""
        longest = np.maximum(texts.lengths(questions), texts.lengths(answers + texts.questions))
        groups = batches(np.maximum(1, longest).tolist(), tokens=_POSITIONS)
        if not groups:
            return torch.zeros(0)
        parts = [self._scores(texts, questions[group], answers[group]) for group in groups]
        return torch.cat(parts)[torch.from_numpy(np.argsort(np.concatenate(groups)))]

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        return score_pairs(self, pairs)

    def _scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        scores: Tensor = self.model(*texts.padded(questions), *texts.padded(answers + texts.questions))
        return scores


def optimiser(ranker: ComparedRanker, *, learning_rate: float, l2: float) -> torch.optim.Optimizer:
    """Adam over all weights."""
    return torch.optim.Adam(ranker.model.parameters(), lr=learning_rate, weight_decay=l2)
